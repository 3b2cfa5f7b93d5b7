
%struct.kept = type { i8, i32, i64, [16 x ptr] }
%struct.stack = type { ptr, ptr, ptr, ptr }

@__zymase_kept = linkonce_odr hidden global %struct.kept zeroinitializer, align 8
@__zymase_shadows = linkonce_odr hidden thread_local global %struct.stack zeroinitializer, align 8
@__zymase_copies = linkonce_odr hidden thread_local global %struct.stack zeroinitializer, align 8

define linkonce_odr hidden void @__zymase_use_large_pages(ptr noundef %0, i64 noundef %1) local_unnamed_addr nounwind noinline {
  %3 = icmp ugt i64 %1, 4194303
  br i1 %3, label %4, label %19

4:                                                ; preds = %2
  %5 = ptrtoint ptr %0 to i64
  %6 = add i64 %5, 2097151
  %7 = and i64 %6, -2097152
  %8 = add i64 %1, %5
  %9 = and i64 %8, -2097152
  %10 = tail call ptr @__errno_location() nounwind noinline
  %11 = load i32, ptr %10, align 4
  %12 = icmp ult i64 %7, %9
  br i1 %12, label %13, label %17

13:                                               ; preds = %4
  %14 = inttoptr i64 %7 to ptr
  %15 = sub nuw i64 %9, %7
  %16 = tail call i32 @madvise(ptr noundef %14, i64 noundef %15, i32 noundef 14) nounwind noinline
  br label %17

17:                                               ; preds = %4, %13
  %18 = tail call ptr @__errno_location() nounwind noinline
  store i32 %11, ptr %18, align 4
  br label %19

19:                                               ; preds = %17, %2
  ret void
}

define linkonce_odr hidden noalias ptr @__zymase_take(i64 noundef %0) local_unnamed_addr nounwind noinline {
  %2 = icmp ult i64 %0, 131072
  br i1 %2, label %3, label %6

3:                                                ; preds = %1
  %4 = add nuw nsw i64 %0, 16
  %5 = tail call noalias ptr @malloc(i64 noundef range(i64 16, 0) %4) nounwind noinline
  br label %50

6:                                                ; preds = %1
  %7 = atomicrmw xchg ptr @__zymase_kept, i8 1 acquire, align 8
  %8 = icmp eq i8 %7, 0
  br i1 %8, label %12, label %44

9:                                                ; preds = %32
  %10 = icmp eq ptr %33, null
  br i1 %10, label %11, label %37

11:                                               ; preds = %9
  store atomic i8 0, ptr @__zymase_kept release, align 8
  br label %44

12:                                               ; preds = %6, %32
  %13 = phi i64 [ %35, %32 ], [ 0, %6 ]
  %14 = phi i32 [ %34, %32 ], [ 0, %6 ]
  %15 = phi ptr [ %33, %32 ], [ null, %6 ]
  %16 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %13
  %17 = load ptr, ptr %16, align 8
  %18 = icmp eq ptr %17, null
  br i1 %18, label %32, label %19

19:                                               ; preds = %12
  %20 = load i64, ptr %17, align 8
  %21 = icmp ult i64 %20, %0
  %22 = lshr i64 %20, 1
  %23 = icmp ugt i64 %22, %0
  %24 = or i1 %21, %23
  br i1 %24, label %32, label %25

25:                                               ; preds = %19
  %26 = icmp eq ptr %15, null
  br i1 %26, label %30, label %27

27:                                               ; preds = %25
  %28 = load i64, ptr %15, align 8
  %29 = icmp ult i64 %20, %28
  br i1 %29, label %30, label %32

30:                                               ; preds = %27, %25
  %31 = trunc nuw nsw i64 %13 to i32
  br label %32

32:                                               ; preds = %30, %27, %19, %12
  %33 = phi ptr [ %17, %30 ], [ %15, %27 ], [ %15, %12 ], [ %15, %19 ]
  %34 = phi i32 [ %31, %30 ], [ %14, %27 ], [ %14, %12 ], [ %14, %19 ]
  %35 = add nuw nsw i64 %13, 1
  %36 = icmp eq i64 %35, 16
  br i1 %36, label %9, label %12

37:                                               ; preds = %9
  %38 = zext nneg i32 %34 to i64
  %39 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %38
  store ptr null, ptr %39, align 8
  %40 = load i64, ptr %33, align 8
  %41 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %42 = sub i64 %41, %40
  store i64 %42, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  store atomic i8 0, ptr @__zymase_kept release, align 8
  %43 = getelementptr inbounds nuw i8, ptr %33, i64 16
  br label %89

44:                                               ; preds = %6, %11
  %45 = icmp ugt i64 %0, -17
  br i1 %45, label %89, label %46

46:                                               ; preds = %44
  %47 = add nuw i64 %0, 16
  %48 = tail call ptr @mmap(ptr noundef null, i64 noundef range(i64 16, 0) %47, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) nounwind noinline
  %49 = icmp eq ptr %48, inttoptr (i64 -1 to ptr)
  br i1 %49, label %54, label %50

50:                                               ; preds = %46, %3
  %51 = phi i64 [ %4, %3 ], [ %47, %46 ]
  %52 = phi ptr [ %5, %3 ], [ %48, %46 ]
  %53 = icmp eq ptr %52, null
  br i1 %53, label %54, label %85

54:                                               ; preds = %46, %50
  %55 = phi i1 [ %2, %50 ], [ false, %46 ]
  %56 = phi i64 [ %51, %50 ], [ %47, %46 ]
  %57 = atomicrmw xchg ptr @__zymase_kept, i8 1 acquire, align 8
  %58 = icmp eq i8 %57, 0
  br i1 %58, label %65, label %89

59:                                               ; preds = %79
  store atomic i8 0, ptr @__zymase_kept release, align 8
  br i1 %55, label %60, label %62

60:                                               ; preds = %59
  %61 = tail call noalias ptr @malloc(i64 noundef range(i64 16, 0) %56) nounwind noinline
  br label %82

62:                                               ; preds = %59
  %63 = tail call ptr @mmap(ptr noundef null, i64 noundef range(i64 16, 0) %56, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) nounwind noinline
  %64 = icmp eq ptr %63, inttoptr (i64 -1 to ptr)
  br i1 %64, label %89, label %82

65:                                               ; preds = %54, %79
  %66 = phi i64 [ %80, %79 ], [ 0, %54 ]
  %67 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %66
  %68 = load ptr, ptr %67, align 8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %79, label %70

70:                                               ; preds = %65
  store ptr null, ptr %67, align 8
  %71 = load i64, ptr %68, align 8
  %72 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %73 = sub i64 %72, %71
  store i64 %73, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %74 = icmp ult i64 %71, 131072
  br i1 %74, label %75, label %76

75:                                               ; preds = %70
  tail call void @free(ptr noundef nonnull %68) nounwind noinline
  br label %79

76:                                               ; preds = %70
  %77 = add i64 %71, 16
  %78 = tail call i32 @munmap(ptr noundef nonnull %68, i64 noundef %77) nounwind noinline
  br label %79

79:                                               ; preds = %65, %75, %76
  %80 = add nuw nsw i64 %66, 1
  %81 = icmp eq i64 %80, 16
  br i1 %81, label %59, label %65

82:                                               ; preds = %62, %60
  %83 = phi ptr [ %61, %60 ], [ %63, %62 ]
  %84 = icmp eq ptr %83, null
  br i1 %84, label %89, label %85

85:                                               ; preds = %50, %82
  %86 = phi i64 [ %56, %82 ], [ %51, %50 ]
  %87 = phi ptr [ %83, %82 ], [ %52, %50 ]
  store i64 %0, ptr %87, align 8
  tail call void @__zymase_use_large_pages(ptr noundef nonnull %87, i64 noundef %86) nounwind noinline
  %88 = getelementptr inbounds nuw i8, ptr %87, i64 16
  br label %89

89:                                               ; preds = %62, %54, %85, %82, %44, %37
  %90 = phi ptr [ %43, %37 ], [ null, %44 ], [ %88, %85 ], [ null, %82 ], [ null, %54 ], [ null, %62 ]
  ret ptr %90
}

define linkonce_odr hidden void @__zymase_give(ptr noundef %0) local_unnamed_addr nounwind noinline {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %85, label %3

3:                                                ; preds = %1
  %4 = getelementptr inbounds i8, ptr %0, i64 -16
  %5 = load i64, ptr %4, align 8
  %6 = add i64 %5, -1073741825
  %7 = icmp ult i64 %6, -1073610753
  br i1 %7, label %13, label %8

8:                                                ; preds = %3
  %9 = atomicrmw xchg ptr @__zymase_kept, i8 1 acquire, align 8
  %10 = icmp eq i8 %9, 0
  br i1 %10, label %20, label %11

11:                                               ; preds = %8
  %12 = load i64, ptr %4, align 8
  br label %13

13:                                               ; preds = %11, %3
  %14 = phi i64 [ %12, %11 ], [ %5, %3 ]
  %15 = icmp ult i64 %14, 131072
  br i1 %15, label %16, label %17

16:                                               ; preds = %13
  tail call void @free(ptr noundef nonnull %4) nounwind noinline
  br label %85

17:                                               ; preds = %13
  %18 = add i64 %14, 16
  %19 = tail call i32 @munmap(ptr noundef nonnull %4, i64 noundef %18) nounwind noinline
  br label %85

20:                                               ; preds = %8
  %21 = icmp samesign ugt i64 %5, 4194303
  br i1 %21, label %22, label %37

22:                                               ; preds = %20
  %23 = ptrtoint ptr %4 to i64
  %24 = add i64 %23, 2097151
  %25 = and i64 %24, -2097152
  %26 = add i64 %5, %23
  %27 = and i64 %26, -2097152
  %28 = tail call ptr @__errno_location() nounwind noinline
  %29 = load i32, ptr %28, align 4
  %30 = icmp ult i64 %25, %27
  br i1 %30, label %31, label %35

31:                                               ; preds = %22
  %32 = inttoptr i64 %25 to ptr
  %33 = sub nuw i64 %27, %25
  %34 = tail call i32 @madvise(ptr noundef %32, i64 noundef %33, i32 noundef 8) nounwind noinline
  br label %35

35:                                               ; preds = %22, %31
  %36 = tail call ptr @__errno_location() nounwind noinline
  store i32 %29, ptr %36, align 4
  br label %37

37:                                               ; preds = %35, %20
  br label %38

38:                                               ; preds = %37, %43
  %39 = phi i64 [ %44, %43 ], [ 0, %37 ]
  %40 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %39
  %41 = load ptr, ptr %40, align 8
  %42 = icmp eq ptr %41, null
  br i1 %42, label %48, label %43

43:                                               ; preds = %38
  %44 = add nuw nsw i64 %39, 1
  %45 = icmp eq i64 %44, 16
  br i1 %45, label %46, label %38

46:                                               ; preds = %43
  %47 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  br label %54

48:                                               ; preds = %38
  %49 = icmp eq i64 %39, 16
  %50 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %51 = add i64 %50, %5
  %52 = icmp ugt i64 %51, 1073741824
  %53 = select i1 %49, i1 true, i1 %52
  br i1 %53, label %54, label %56

54:                                               ; preds = %46, %48
  %55 = phi i64 [ %50, %48 ], [ %47, %46 ]
  br label %58

56:                                               ; preds = %48
  %57 = and i64 %39, 4294967295
  br label %81

58:                                               ; preds = %54, %75
  %59 = phi i64 [ %77, %75 ], [ %55, %54 ]
  %60 = load i32, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 4), align 4
  %61 = add i32 %60, 1
  %62 = and i32 %61, 15
  store i32 %62, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 4), align 4
  %63 = zext i32 %60 to i64
  %64 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %63
  %65 = load ptr, ptr %64, align 8
  %66 = icmp eq ptr %65, null
  br i1 %66, label %75, label %67

67:                                               ; preds = %58
  store ptr null, ptr %64, align 8
  %68 = load i64, ptr %65, align 8
  %69 = sub i64 %59, %68
  store i64 %69, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %70 = icmp ult i64 %68, 131072
  br i1 %70, label %71, label %72

71:                                               ; preds = %67
  tail call void @free(ptr noundef nonnull %65) nounwind noinline
  br label %75

72:                                               ; preds = %67
  %73 = add i64 %68, 16
  %74 = tail call i32 @munmap(ptr noundef nonnull %65, i64 noundef %73) nounwind noinline
  br label %75

75:                                               ; preds = %58, %71, %72
  %76 = icmp eq i32 %60, 16
  %77 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %78 = add i64 %77, %5
  %79 = icmp ugt i64 %78, 1073741824
  %80 = select i1 %76, i1 true, i1 %79
  br i1 %80, label %58, label %81

81:                                               ; preds = %75, %56
  %82 = phi i64 [ %57, %56 ], [ %63, %75 ]
  %83 = phi i64 [ %51, %56 ], [ %78, %75 ]
  %84 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %82
  store ptr %4, ptr %84, align 8
  store i64 %83, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  store atomic i8 0, ptr @__zymase_kept release, align 8
  br label %85

85:                                               ; preds = %17, %16, %81, %1
  ret void
}

define linkonce_odr hidden noalias ptr @__zymase_push_shadow(i64 noundef %0) local_unnamed_addr nounwind noinline {
  %2 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @__zymase_shadows)
  %3 = icmp ult i64 %0, 4096
  br i1 %3, label %4, label %7

4:                                                ; preds = %1
  %5 = tail call i64 @llvm.umax.i64(i64 %0, i64 1)
  %6 = tail call noalias ptr @calloc(i64 noundef 1, i64 noundef %5) nounwind noinline
  br label %36

7:                                                ; preds = %1
  %8 = icmp ugt i64 %0, -65
  br i1 %8, label %36, label %9

9:                                                ; preds = %7
  %10 = add nuw i64 %0, 63
  %11 = and i64 %10, -64
  %12 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %13 = load ptr, ptr %12, align 8
  %14 = load ptr, ptr %2, align 8
  %15 = ptrtoint ptr %13 to i64
  %16 = ptrtoint ptr %14 to i64
  %17 = sub i64 %15, %16
  %18 = icmp ult i64 %17, %11
  br i1 %18, label %19, label %24

19:                                               ; preds = %9
  %20 = tail call fastcc i32 @grow(ptr noundef nonnull %2, i64 noundef %11) nounwind noinline
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %36, label %22

22:                                               ; preds = %19
  %23 = load ptr, ptr %2, align 8
  br label %24

24:                                               ; preds = %22, %9
  %25 = phi ptr [ %23, %22 ], [ %14, %9 ]
  %26 = getelementptr inbounds nuw i8, ptr %25, i64 %11
  store ptr %26, ptr %2, align 8
  %27 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %28 = load ptr, ptr %27, align 8
  %29 = icmp ugt ptr %28, %25
  br i1 %29, label %30, label %36

30:                                               ; preds = %24
  %31 = ptrtoint ptr %28 to i64
  %32 = ptrtoint ptr %25 to i64
  %33 = sub i64 %31, %32
  %34 = tail call i64 @llvm.umin.i64(i64 %33, i64 %0)
  %35 = tail call ptr @memset(ptr noundef %25, i32 noundef 0, i64 noundef %34) nounwind noinline
  br label %36

36:                                               ; preds = %4, %7, %19, %24, %30
  %37 = phi ptr [ null, %7 ], [ %25, %24 ], [ %6, %4 ], [ null, %19 ], [ %25, %30 ]
  ret ptr %37
}

declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) nounwind noinline

define linkonce_odr hidden void @__zymase_pop_shadow(ptr noundef %0) local_unnamed_addr nounwind noinline {
  %2 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @__zymase_shadows)
  tail call fastcc void @pop(ptr noundef %2, ptr noundef %0) nounwind noinline
  ret void
}

define internal fastcc void @pop(ptr noundef nonnull captures(address) %0, ptr noundef %1) unnamed_addr nounwind noinline {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %4 = load ptr, ptr %3, align 8
  %5 = icmp eq ptr %4, null
  %6 = icmp ult ptr %1, %4
  %7 = or i1 %5, %6
  br i1 %7, label %12, label %8

8:                                                ; preds = %2
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %10 = load ptr, ptr %9, align 8
  %11 = icmp ult ptr %1, %10
  br i1 %11, label %13, label %12

12:                                               ; preds = %8, %2
  tail call void @free(ptr noundef %1) nounwind noinline
  br label %65

13:                                               ; preds = %8
  %14 = ptrtoint ptr %10 to i64
  %15 = ptrtoint ptr %4 to i64
  %16 = sub i64 %14, %15
  %17 = icmp ult i64 %16, 4194305
  %18 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @__zymase_shadows)
  %19 = icmp ne ptr %0, %18
  %20 = select i1 %17, i1 true, i1 %19
  %21 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %22 = ptrtoint ptr %21 to i64
  %23 = add i64 %22, 63
  %24 = and i64 %23, -64
  %25 = inttoptr i64 %24 to ptr
  %26 = icmp eq ptr %1, %25
  br i1 %26, label %27, label %37

27:                                               ; preds = %13
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(32) %0, ptr noundef nonnull align 8 dereferenceable(32) %4, i64 32, i1 false)
  br i1 %20, label %36, label %28

28:                                               ; preds = %27
  %29 = getelementptr inbounds i8, ptr %4, i64 -16
  %30 = load i64, ptr %29, align 8
  %31 = icmp ult i64 %30, 131072
  br i1 %31, label %32, label %33

32:                                               ; preds = %28
  tail call void @free(ptr noundef nonnull %29) nounwind noinline
  br label %65

33:                                               ; preds = %28
  %34 = add i64 %30, 16
  %35 = tail call i32 @munmap(ptr noundef nonnull %29, i64 noundef %34) nounwind noinline
  br label %65

36:                                               ; preds = %27
  tail call void @__zymase_give(ptr noundef nonnull %4) nounwind noinline
  br label %65

37:                                               ; preds = %13
  %38 = load ptr, ptr %0, align 8
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %40 = load ptr, ptr %39, align 8
  %41 = icmp ugt ptr %38, %40
  br i1 %41, label %42, label %43

42:                                               ; preds = %37
  store ptr %38, ptr %39, align 8
  br label %43

43:                                               ; preds = %42, %37
  %44 = phi ptr [ %38, %42 ], [ %40, %37 ]
  store ptr %1, ptr %0, align 8
  br i1 %20, label %65, label %45

45:                                               ; preds = %43
  %46 = ptrtoint ptr %44 to i64
  %47 = ptrtoint ptr %1 to i64
  %48 = sub i64 %46, %47
  %49 = icmp ugt i64 %48, 4194304
  br i1 %49, label %50, label %65

50:                                               ; preds = %45
  %51 = add i64 %47, 2097151
  %52 = and i64 %51, -2097152
  %53 = icmp ult i64 %52, %46
  br i1 %53, label %54, label %65

54:                                               ; preds = %50
  %55 = tail call ptr @__errno_location() nounwind noinline
  %56 = load i32, ptr %55, align 4
  %57 = inttoptr i64 %52 to ptr
  %58 = sub nuw i64 %46, %52
  %59 = tail call i32 @madvise(ptr noundef %57, i64 noundef %58, i32 noundef 4) nounwind noinline
  %60 = tail call ptr @__errno_location() nounwind noinline
  store i32 %56, ptr %60, align 4
  %61 = icmp ne i32 %59, 0
  %62 = icmp eq i64 %52, 0
  %63 = or i1 %62, %61
  br i1 %63, label %65, label %64

64:                                               ; preds = %54
  store ptr %57, ptr %39, align 8
  br label %65

65:                                               ; preds = %50, %54, %33, %32, %36, %64, %45, %43, %12
  ret void
}

define linkonce_odr hidden noalias ptr @__zymase_push_copy(i64 noundef %0) local_unnamed_addr nounwind noinline {
  %2 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @__zymase_copies)
  %3 = icmp ult i64 %0, 4096
  br i1 %3, label %4, label %7

4:                                                ; preds = %1
  %5 = tail call i64 @llvm.umax.i64(i64 %0, i64 1)
  %6 = tail call noalias ptr @malloc(i64 noundef %5) nounwind noinline
  br label %27

7:                                                ; preds = %1
  %8 = icmp ugt i64 %0, -65
  br i1 %8, label %27, label %9

9:                                                ; preds = %7
  %10 = add nuw i64 %0, 63
  %11 = and i64 %10, -64
  %12 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %13 = load ptr, ptr %12, align 8
  %14 = load ptr, ptr %2, align 8
  %15 = ptrtoint ptr %13 to i64
  %16 = ptrtoint ptr %14 to i64
  %17 = sub i64 %15, %16
  %18 = icmp ult i64 %17, %11
  br i1 %18, label %19, label %24

19:                                               ; preds = %9
  %20 = tail call fastcc i32 @grow(ptr noundef nonnull %2, i64 noundef %11) nounwind noinline
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %27, label %22

22:                                               ; preds = %19
  %23 = load ptr, ptr %2, align 8
  br label %24

24:                                               ; preds = %22, %9
  %25 = phi ptr [ %23, %22 ], [ %14, %9 ]
  %26 = getelementptr inbounds nuw i8, ptr %25, i64 %11
  store ptr %26, ptr %2, align 8
  br label %27

27:                                               ; preds = %4, %7, %19, %24
  %28 = phi ptr [ null, %7 ], [ %6, %4 ], [ %25, %24 ], [ null, %19 ]
  ret ptr %28
}

define linkonce_odr hidden noalias ptr @__zymase_push_zeroed_copy(i64 noundef %0) local_unnamed_addr nounwind noinline {
  %2 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @__zymase_copies)
  %3 = icmp ult i64 %0, 4096
  br i1 %3, label %4, label %7

4:                                                ; preds = %1
  %5 = tail call i64 @llvm.umax.i64(i64 %0, i64 1)
  %6 = tail call noalias ptr @calloc(i64 noundef 1, i64 noundef %5) nounwind noinline
  br label %36

7:                                                ; preds = %1
  %8 = icmp ugt i64 %0, -65
  br i1 %8, label %36, label %9

9:                                                ; preds = %7
  %10 = add nuw i64 %0, 63
  %11 = and i64 %10, -64
  %12 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %13 = load ptr, ptr %12, align 8
  %14 = load ptr, ptr %2, align 8
  %15 = ptrtoint ptr %13 to i64
  %16 = ptrtoint ptr %14 to i64
  %17 = sub i64 %15, %16
  %18 = icmp ult i64 %17, %11
  br i1 %18, label %19, label %24

19:                                               ; preds = %9
  %20 = tail call fastcc i32 @grow(ptr noundef nonnull %2, i64 noundef %11) nounwind noinline
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %36, label %22

22:                                               ; preds = %19
  %23 = load ptr, ptr %2, align 8
  br label %24

24:                                               ; preds = %22, %9
  %25 = phi ptr [ %23, %22 ], [ %14, %9 ]
  %26 = getelementptr inbounds nuw i8, ptr %25, i64 %11
  store ptr %26, ptr %2, align 8
  %27 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %28 = load ptr, ptr %27, align 8
  %29 = icmp ugt ptr %28, %25
  br i1 %29, label %30, label %36

30:                                               ; preds = %24
  %31 = ptrtoint ptr %28 to i64
  %32 = ptrtoint ptr %25 to i64
  %33 = sub i64 %31, %32
  %34 = tail call i64 @llvm.umin.i64(i64 %33, i64 %0)
  %35 = tail call ptr @memset(ptr noundef %25, i32 noundef 0, i64 noundef %34) nounwind noinline
  br label %36

36:                                               ; preds = %4, %7, %19, %24, %30
  %37 = phi ptr [ null, %7 ], [ %25, %24 ], [ %6, %4 ], [ null, %19 ], [ %25, %30 ]
  ret ptr %37
}

define linkonce_odr hidden void @__zymase_pop_copy(ptr noundef %0) local_unnamed_addr nounwind noinline {
  %2 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @__zymase_copies)
  tail call fastcc void @pop(ptr noundef %2, ptr noundef %0) nounwind noinline
  ret void
}

declare ptr @__errno_location() local_unnamed_addr nounwind noinline

declare i32 @madvise(ptr noundef, i64 noundef, i32 noundef) local_unnamed_addr nounwind noinline

declare noalias ptr @malloc(i64 noundef) local_unnamed_addr nounwind noinline

declare ptr @mmap(ptr noundef, i64 noundef, i32 noundef, i32 noundef, i32 noundef, i64 noundef) local_unnamed_addr nounwind noinline

declare void @free(ptr noundef) local_unnamed_addr nounwind noinline

declare i32 @munmap(ptr noundef, i64 noundef) local_unnamed_addr nounwind noinline

declare noalias ptr @calloc(i64 noundef, i64 noundef) local_unnamed_addr nounwind noinline

define internal fastcc range(i32 0, 2) i32 @grow(ptr noundef nonnull captures(address) %0, i64 noundef range(i64 4096, -63) %1) unnamed_addr nounwind noinline {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %4 = load ptr, ptr %3, align 8
  %5 = icmp eq ptr %4, null
  br i1 %5, label %12, label %6

6:                                                ; preds = %2
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %8 = load ptr, ptr %7, align 8
  %9 = ptrtoint ptr %8 to i64
  %10 = ptrtoint ptr %4 to i64
  %11 = sub i64 %9, %10
  br label %12

12:                                               ; preds = %2, %6
  %13 = phi i64 [ %11, %6 ], [ 0, %2 ]
  %14 = icmp ugt i64 %1, -97
  br i1 %14, label %69, label %15

15:                                               ; preds = %12
  %16 = shl i64 %13, 2
  %17 = icmp eq i64 %13, 0
  %18 = tail call i64 @llvm.umin.i64(i64 %16, i64 268435456)
  %19 = select i1 %17, i64 65536, i64 %18
  %20 = add nuw i64 %1, 96
  %21 = tail call i64 @llvm.umax.i64(i64 %19, i64 %20)
  %22 = icmp ult i64 %21, 4194305
  %23 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @__zymase_shadows)
  %24 = icmp ne ptr %0, %23
  %25 = select i1 %22, i1 true, i1 %24
  br i1 %25, label %36, label %26

26:                                               ; preds = %15
  %27 = icmp ugt i64 %1, -113
  br i1 %27, label %39, label %28

28:                                               ; preds = %26
  %29 = add nuw i64 %21, 16
  %30 = tail call ptr @mmap(ptr noundef null, i64 noundef range(i64 16, 0) %29, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) nounwind noinline
  %31 = ptrtoint ptr %30 to i64
  %32 = add i64 %31, -1
  %33 = icmp ult i64 %32, -2
  br i1 %33, label %34, label %39

34:                                               ; preds = %28
  store i64 %21, ptr %30, align 8
  tail call void @__zymase_use_large_pages(ptr noundef nonnull %30, i64 noundef %29) nounwind noinline
  %35 = getelementptr inbounds nuw i8, ptr %30, i64 16
  br label %55

36:                                               ; preds = %15
  %37 = tail call ptr @__zymase_take(i64 noundef range(i64 4192, 0) %21) nounwind noinline
  %38 = icmp eq ptr %37, null
  br i1 %38, label %39, label %55

39:                                               ; preds = %28, %26, %36
  %40 = icmp ult i64 %1, 4194209
  %41 = select i1 %40, i1 true, i1 %24
  br i1 %41, label %52, label %42

42:                                               ; preds = %39
  %43 = icmp ugt i64 %1, -113
  br i1 %43, label %69, label %44

44:                                               ; preds = %42
  %45 = add nuw i64 %1, 112
  %46 = tail call ptr @mmap(ptr noundef null, i64 noundef range(i64 16, 0) %45, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) nounwind noinline
  %47 = ptrtoint ptr %46 to i64
  %48 = add i64 %47, -1
  %49 = icmp ult i64 %48, -2
  br i1 %49, label %50, label %69

50:                                               ; preds = %44
  store i64 %20, ptr %46, align 8
  tail call void @__zymase_use_large_pages(ptr noundef nonnull %46, i64 noundef %45) nounwind noinline
  %51 = getelementptr inbounds nuw i8, ptr %46, i64 16
  br label %55

52:                                               ; preds = %39
  %53 = tail call ptr @__zymase_take(i64 noundef range(i64 4192, 0) %20) nounwind noinline
  %54 = icmp eq ptr %53, null
  br i1 %54, label %69, label %55

55:                                               ; preds = %50, %34, %52, %36
  %56 = phi i64 [ %21, %36 ], [ %20, %52 ], [ %21, %34 ], [ %20, %50 ]
  %57 = phi ptr [ %37, %36 ], [ %53, %52 ], [ %35, %34 ], [ %51, %50 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(32) %57, ptr noundef nonnull align 8 dereferenceable(32) %0, i64 32, i1 false)
  store ptr %57, ptr %3, align 8
  %58 = getelementptr inbounds nuw i8, ptr %57, i64 32
  %59 = ptrtoint ptr %58 to i64
  %60 = add i64 %59, 63
  %61 = and i64 %60, -64
  %62 = inttoptr i64 %61 to ptr
  store ptr %62, ptr %0, align 8
  %63 = getelementptr inbounds nuw i8, ptr %57, i64 %56
  %64 = getelementptr inbounds nuw i8, ptr %0, i64 16
  store ptr %63, ptr %64, align 8
  %65 = icmp ult i64 %56, 4194305
  %66 = select i1 %65, i1 true, i1 %24
  %67 = select i1 %66, ptr %63, ptr %62
  %68 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store ptr %67, ptr %68, align 8
  br label %69

69:                                               ; preds = %44, %42, %55, %52, %12
  %70 = phi i32 [ 0, %12 ], [ 1, %55 ], [ 0, %52 ], [ 0, %42 ], [ 0, %44 ]
  ret i32 %70
}

declare ptr @memset(ptr noundef, i32 noundef, i64 noundef) local_unnamed_addr nounwind noinline

declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) nounwind noinline

declare i64 @llvm.umin.i64(i64, i64) nounwind noinline

declare i64 @llvm.umax.i64(i64, i64) nounwind noinline

