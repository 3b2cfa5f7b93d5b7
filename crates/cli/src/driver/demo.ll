; double energy(const double *x, long n) {
;   double sum = 0;
;   for (long i = 0; i < n; i++) sum += x[i] * sin(x[i]);
;   return sum;
; }
define double @energy(ptr %x, i64 %n) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %address = getelementptr inbounds double, ptr %x, i64 %i
  %value = load double, ptr %address, align 8
  %sine = call double @llvm.sin.f64(double %value)
  %product = fmul double %value, %sine
  %more = fadd double %sum, %product
  %next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  %result = phi double [ 0.0, %entry ], [ %more, %loop ]
  ret double %result
}

; void gradient(const double *x, double *dx, long n) {
;   __enzyme_autodiff((void *)energy, enzyme_dup, x, dx, n);
; }
define void @gradient(ptr %x, ptr %dx, i64 %n) {
  %dup = load i32, ptr @enzyme_dup, align 4
  call void (ptr, ...) @__enzyme_autodiff(ptr @energy, i32 %dup, ptr %x, ptr %dx, i64 %n)
  ret void
}

@enzyme_dup = external global i32
declare void @__enzyme_autodiff(ptr, ...)
declare double @llvm.sin.f64(double)
