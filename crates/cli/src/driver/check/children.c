// Children: processes in which something runs on the memory of the program, without any trace in it.

// What a child does; it writes its reply to a file.
typedef struct task {
  void (*work)(const struct task *, int file);
  run *function;
  char *block;
  const cell *cells;
  size_t count;
  const double *numbers; // for each cell, what is put into its shadow, or how far it is moved
  double step;
  int64_t lane;
} task;

typedef struct {
  char *bytes;
  size_t length;
  int signal; // what it died of
} reply;

// Arguments may be constants, which lie in memory that cannot be written.
static void make_writable(int number, siginfo_t *info, void *context) {
  (void)context;
  uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
  if (mprotect((void *)page, 1, PROT_READ | PROT_WRITE)) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

static void watch_writes(int on) {
  struct sigaction action = {0};
  action.sa_sigaction = make_writable;
  action.sa_flags = SA_SIGINFO;
  if (!on) action.sa_handler = SIG_DFL, action.sa_flags = 0;
  sigaction(SIGSEGV, &action, 0);
}

static void write_all(int file, const void *bytes, size_t length) {
  for (const char *at = bytes; length > 0;) {
    ssize_t written = write(file, at, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(1);
    at += written;
    length -= (size_t)written;
  }
}

// How long a file may be that is written in a child.
enum { LONG_FILE = 64 << 20 };

// Puts a copy of its own in the place of a file that is open for writing.
static int copy_file(int file, off_t length) {
  int copy = memfd_create("copy", 0), source = open("/dev/null", O_RDONLY);
  char path[64], bytes[4096];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (length <= LONG_FILE) close(source), source = open(path, O_RDONLY);
  for (ssize_t got; copy >= 0 && (got = read(source, bytes, sizeof bytes)) > 0;) write_all(copy, bytes, (size_t)got);
  close(source);
  return copy;
}

// Lets open files be read and written without any trace: files that are read are opened anew, so that
// they have a position of their own, files that are written are copied, and for anything else there
// is nothing to read, and what is written is lost.
static void leave_files_alone(int reply) {
  DIR *folder = opendir("/proc/self/fd");
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    int file = atoi(entry->d_name), mode = fcntl(file, F_GETFL), other;
    struct stat about;
    if (*entry->d_name == '.' || file == reply || file == dirfd(folder) || fstat(file, &about)) continue;
    off_t position = lseek(file, 0, SEEK_CUR);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (!S_ISREG(about.st_mode)) other = open("/dev/null", O_RDWR);
    else if ((mode & O_ACCMODE) == O_RDONLY) other = open(path, O_RDONLY);
    else other = copy_file(file, about.st_size);
    if (S_ISDIR(about.st_mode) || other < 0) continue;
    lseek(other, position, SEEK_SET);
    dup2(other, file);
    close(other);
  }
  closedir(folder);
}

static reply in_a_child(const task *task) {
  reply reply = {0};
  int ends[2], status = 0;
  if (pipe(ends)) return reply;
  pid_t child = fork();
  if (child == 0) {
    in_child = 1;
    close(ends[0]);
    leave_files_alone(ends[1]);
    int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM, SIGTERM};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(600);
    task->work(task, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return reply;
  }
  size_t room = 0;
  for (;;) {
    if (reply.length == room) {
      room = room ? 2 * room : 4096;
      reply.bytes = realloc(reply.bytes, room);
      if (!reply.bytes) _exit(1);
    }
    ssize_t got = read(ends[0], reply.bytes + reply.length, room - reply.length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    reply.length += (size_t)got;
  }
  close(ends[0]);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) reply.signal = WTERMSIG(status);
  return reply;
}

// Runs the recording derivative; replies with the name of what was not seen, and the cells.
static void record(const task *task, int file) {
  notes.on = 1;
  notes.lane = task->lane;
  int missing = task->function(task->block);
  notes.on = 0;
  const char *unseen = missing ? "its forward derivative" : notes.unseen;
  write_all(file, &unseen, sizeof unseen);
  for (size_t i = 0; i < notes.room; i++) {
    cell *cell = &notes.table[i];
    if (!cell->primal) continue;
    if (is_in(&notes.freed, cell->primal)) cell->flags |= GONE;
    if (is_in(&notes.cleared, cell->primal)) cell->flags |= WRITTEN;
    write_all(file, cell, sizeof *cell);
  }
}

static int reads_nothing_after(const cell *cell) { return (cell->flags & (VALUE | GONE)) != 0; }

// Runs a derivative with numbers in the shadows; replies with what is there afterwards. What is
// freed has no tangent afterwards, but its adjoint is in its shadow.
static void derive(const task *task, int file) {
  double *after = get_memory(task->count * sizeof(double));
  for (size_t i = 0; i < task->count; i++)
    put(task->cells[i].shadow, task->cells[i].kind, task->numbers[i]);
  if (task->function(task->block)) return;
  int reverse = task->step != 0;
  for (size_t i = 0; i < task->count; i++) {
    const cell *cell = &task->cells[i];
    int none = reverse ? (cell->flags & RESULT) != 0 : reads_nothing_after(cell);
    after[i] = none ? 0 : get(cell->shadow, cell->kind);
  }
  write_all(file, after, task->count * sizeof(double));
}

// Runs the function itself somewhere along a direction; replies with the cells afterwards.
static void move_and_run(const task *task, int file) {
  double *after = get_memory(task->count * sizeof(double));
  for (size_t i = 0; i < task->count; i++) after[i] = get(task->cells[i].primal, task->cells[i].kind);
  watch_writes(1);
  for (size_t i = 0; i < task->count; i++) {
    const cell *cell = &task->cells[i];
    double moved = after[i] + task->step * task->numbers[i];
    if (!(cell->flags & RESULT) && task->step * task->numbers[i] != 0)
      put(cell->primal, cell->kind, moved);
  }
  watch_writes(0);
  if (task->function(task->block)) return;
  for (size_t i = 0; i < task->count; i++) {
    const cell *cell = &task->cells[i];
    after[i] = reads_nothing_after(cell) ? 0 : get(cell->primal, cell->kind);
  }
  write_all(file, after, task->count * sizeof(double));
}
