
%struct.kept = type { i8, i32, i64, [16 x ptr] }
%struct.stack = type { ptr, ptr, ptr, ptr }

@__zymase_kept = linkonce_odr hidden global %struct.kept zeroinitializer, align 8
@__zymase_shadows = linkonce_odr hidden thread_local global %struct.stack zeroinitializer, align 8
@__zymase_copies = linkonce_odr hidden thread_local global %struct.stack zeroinitializer, align 8

define linkonce_odr hidden void @__zymase_use_large_pages(ptr noundef readnone captures(none) %0, i64 noundef %1) local_unnamed_addr nounwind noinline {
  ret void
}

define linkonce_odr hidden noalias ptr @__zymase_take(i64 noundef %0) local_unnamed_addr nounwind noinline {
  %2 = icmp ult i64 %0, 131072
  br i1 %2, label %43, label %3

3:                                                ; preds = %1
  %4 = atomicrmw xchg ptr @__zymase_kept, i8 1 acquire, align 8
  %5 = icmp eq i8 %4, 0
  br i1 %5, label %9, label %41

6:                                                ; preds = %29
  %7 = icmp eq ptr %30, null
  br i1 %7, label %8, label %34

8:                                                ; preds = %6
  store atomic i8 0, ptr @__zymase_kept release, align 8
  br label %41

9:                                                ; preds = %3, %29
  %10 = phi i64 [ %32, %29 ], [ 0, %3 ]
  %11 = phi i32 [ %31, %29 ], [ 0, %3 ]
  %12 = phi ptr [ %30, %29 ], [ null, %3 ]
  %13 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %10
  %14 = load ptr, ptr %13, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %29, label %16

16:                                               ; preds = %9
  %17 = load i64, ptr %14, align 8
  %18 = icmp ult i64 %17, %0
  %19 = lshr i64 %17, 1
  %20 = icmp ugt i64 %19, %0
  %21 = or i1 %18, %20
  br i1 %21, label %29, label %22

22:                                               ; preds = %16
  %23 = icmp eq ptr %12, null
  br i1 %23, label %27, label %24

24:                                               ; preds = %22
  %25 = load i64, ptr %12, align 8
  %26 = icmp ult i64 %17, %25
  br i1 %26, label %27, label %29

27:                                               ; preds = %24, %22
  %28 = trunc nuw nsw i64 %10 to i32
  br label %29

29:                                               ; preds = %27, %24, %16, %9
  %30 = phi ptr [ %14, %27 ], [ %12, %24 ], [ %12, %9 ], [ %12, %16 ]
  %31 = phi i32 [ %28, %27 ], [ %11, %24 ], [ %11, %9 ], [ %11, %16 ]
  %32 = add nuw nsw i64 %10, 1
  %33 = icmp eq i64 %32, 16
  br i1 %33, label %6, label %9

34:                                               ; preds = %6
  %35 = zext nneg i32 %31 to i64
  %36 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %35
  store ptr null, ptr %36, align 8
  %37 = load i64, ptr %30, align 8
  %38 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %39 = sub i64 %38, %37
  store i64 %39, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  store atomic i8 0, ptr @__zymase_kept release, align 8
  %40 = getelementptr inbounds nuw i8, ptr %30, i64 16
  br label %68

41:                                               ; preds = %3, %8
  %42 = icmp ugt i64 %0, -17
  br i1 %42, label %68, label %43

43:                                               ; preds = %1, %41
  %44 = add nuw i64 %0, 16
  %45 = tail call noalias ptr @malloc(i64 noundef range(i64 16, 0) %44) nounwind noinline
  %46 = icmp eq ptr %45, null
  br i1 %46, label %47, label %65

47:                                               ; preds = %43
  %48 = atomicrmw xchg ptr @__zymase_kept, i8 1 acquire, align 8
  %49 = icmp eq i8 %48, 0
  br i1 %49, label %50, label %68

50:                                               ; preds = %47, %59
  %51 = phi i64 [ %60, %59 ], [ 0, %47 ]
  %52 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %51
  %53 = load ptr, ptr %52, align 8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %59, label %55

55:                                               ; preds = %50
  store ptr null, ptr %52, align 8
  %56 = load i64, ptr %53, align 8
  %57 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %58 = sub i64 %57, %56
  store i64 %58, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  tail call void @free(ptr noundef nonnull %53) nounwind noinline
  br label %59

59:                                               ; preds = %50, %55
  %60 = add nuw nsw i64 %51, 1
  %61 = icmp eq i64 %60, 16
  br i1 %61, label %62, label %50

62:                                               ; preds = %59
  store atomic i8 0, ptr @__zymase_kept release, align 8
  %63 = tail call noalias ptr @malloc(i64 noundef range(i64 16, 0) %44) nounwind noinline
  %64 = icmp eq ptr %63, null
  br i1 %64, label %68, label %65

65:                                               ; preds = %43, %62
  %66 = phi ptr [ %63, %62 ], [ %45, %43 ]
  store i64 %0, ptr %66, align 8
  %67 = getelementptr inbounds nuw i8, ptr %66, i64 16
  br label %68

68:                                               ; preds = %47, %65, %62, %41, %34
  %69 = phi ptr [ %40, %34 ], [ null, %41 ], [ %67, %65 ], [ null, %62 ], [ null, %47 ]
  ret ptr %69
}

define linkonce_odr hidden void @__zymase_give(ptr noundef %0) local_unnamed_addr nounwind noinline {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %58, label %3

3:                                                ; preds = %1
  %4 = getelementptr inbounds i8, ptr %0, i64 -16
  %5 = load i64, ptr %4, align 8
  %6 = add i64 %5, -1073741825
  %7 = icmp ult i64 %6, -1073610753
  br i1 %7, label %11, label %8

8:                                                ; preds = %3
  %9 = atomicrmw xchg ptr @__zymase_kept, i8 1 acquire, align 8
  %10 = icmp eq i8 %9, 0
  br i1 %10, label %12, label %11

11:                                               ; preds = %8, %3
  tail call void @free(ptr noundef nonnull %4) nounwind noinline
  br label %58

12:                                               ; preds = %8, %17
  %13 = phi i64 [ %18, %17 ], [ 0, %8 ]
  %14 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %13
  %15 = load ptr, ptr %14, align 8
  %16 = icmp eq ptr %15, null
  br i1 %16, label %22, label %17

17:                                               ; preds = %12
  %18 = add nuw nsw i64 %13, 1
  %19 = icmp eq i64 %18, 16
  br i1 %19, label %20, label %12

20:                                               ; preds = %17
  %21 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  br label %30

22:                                               ; preds = %12
  %23 = icmp eq i64 %13, 16
  %24 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %25 = add i64 %24, %5
  %26 = icmp ugt i64 %25, 1073741824
  %27 = select i1 %23, i1 true, i1 %26
  br i1 %27, label %30, label %28

28:                                               ; preds = %22
  %29 = and i64 %13, 4294967295
  br label %54

30:                                               ; preds = %20, %22
  %31 = phi i64 [ %21, %20 ], [ %24, %22 ]
  %32 = load i32, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 4), align 4
  br label %33

33:                                               ; preds = %30, %47
  %34 = phi i64 [ %48, %47 ], [ %31, %30 ]
  %35 = phi i32 [ %49, %47 ], [ %32, %30 ]
  %36 = add i32 %35, 1
  %37 = and i32 %36, 15
  store i32 %37, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 4), align 4
  %38 = zext i32 %35 to i64
  %39 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %38
  %40 = load ptr, ptr %39, align 8
  %41 = icmp eq ptr %40, null
  br i1 %41, label %47, label %42

42:                                               ; preds = %33
  store ptr null, ptr %39, align 8
  %43 = load i64, ptr %40, align 8
  %44 = sub i64 %34, %43
  store i64 %44, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  tail call void @free(ptr noundef nonnull %40) nounwind noinline
  %45 = load i32, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 4), align 4
  %46 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  br label %47

47:                                               ; preds = %33, %42
  %48 = phi i64 [ %34, %33 ], [ %46, %42 ]
  %49 = phi i32 [ %37, %33 ], [ %45, %42 ]
  %50 = icmp eq i32 %35, 16
  %51 = add i64 %48, %5
  %52 = icmp ugt i64 %51, 1073741824
  %53 = select i1 %50, i1 true, i1 %52
  br i1 %53, label %33, label %54

54:                                               ; preds = %47, %28
  %55 = phi i64 [ %29, %28 ], [ %38, %47 ]
  %56 = phi i64 [ %25, %28 ], [ %51, %47 ]
  %57 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %55
  store ptr %4, ptr %57, align 8
  store i64 %56, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  store atomic i8 0, ptr @__zymase_kept release, align 8
  br label %58

58:                                               ; preds = %11, %54, %1
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
  %3 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %4 = load ptr, ptr %3, align 8
  %5 = icmp ne ptr %4, null
  %6 = icmp uge ptr %0, %4
  %7 = and i1 %5, %6
  %8 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %9 = load ptr, ptr %8, align 8
  %10 = icmp ult ptr %0, %9
  %11 = select i1 %7, i1 %10, i1 false
  br i1 %11, label %13, label %12

12:                                               ; preds = %1
  tail call void @free(ptr noundef %0) nounwind noinline
  br label %28

13:                                               ; preds = %1
  %14 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %15 = ptrtoint ptr %14 to i64
  %16 = add i64 %15, 63
  %17 = and i64 %16, -64
  %18 = inttoptr i64 %17 to ptr
  %19 = icmp eq ptr %0, %18
  br i1 %19, label %20, label %21

20:                                               ; preds = %13
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(32) %2, ptr noundef nonnull align 8 dereferenceable(32) %4, i64 32, i1 false)
  tail call void @__zymase_give(ptr noundef nonnull %4) nounwind noinline
  br label %28

21:                                               ; preds = %13
  %22 = load ptr, ptr %2, align 8
  %23 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %24 = load ptr, ptr %23, align 8
  %25 = icmp ugt ptr %22, %24
  br i1 %25, label %26, label %27

26:                                               ; preds = %21
  store ptr %22, ptr %23, align 8
  br label %27

27:                                               ; preds = %26, %21
  store ptr %0, ptr %2, align 8
  br label %28

28:                                               ; preds = %12, %20, %27
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
  %3 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %4 = load ptr, ptr %3, align 8
  %5 = icmp ne ptr %4, null
  %6 = icmp uge ptr %0, %4
  %7 = and i1 %5, %6
  %8 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %9 = load ptr, ptr %8, align 8
  %10 = icmp ult ptr %0, %9
  %11 = select i1 %7, i1 %10, i1 false
  br i1 %11, label %13, label %12

12:                                               ; preds = %1
  tail call void @free(ptr noundef %0) nounwind noinline
  br label %28

13:                                               ; preds = %1
  %14 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %15 = ptrtoint ptr %14 to i64
  %16 = add i64 %15, 63
  %17 = and i64 %16, -64
  %18 = inttoptr i64 %17 to ptr
  %19 = icmp eq ptr %0, %18
  br i1 %19, label %20, label %21

20:                                               ; preds = %13
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(32) %2, ptr noundef nonnull align 8 dereferenceable(32) %4, i64 32, i1 false)
  tail call void @__zymase_give(ptr noundef nonnull %4) nounwind noinline
  br label %28

21:                                               ; preds = %13
  %22 = load ptr, ptr %2, align 8
  %23 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %24 = load ptr, ptr %23, align 8
  %25 = icmp ugt ptr %22, %24
  br i1 %25, label %26, label %27

26:                                               ; preds = %21
  store ptr %22, ptr %23, align 8
  br label %27

27:                                               ; preds = %26, %21
  store ptr %0, ptr %2, align 8
  br label %28

28:                                               ; preds = %12, %20, %27
  ret void
}

declare noalias ptr @malloc(i64 noundef) local_unnamed_addr nounwind noinline

declare void @free(ptr noundef) local_unnamed_addr nounwind noinline

declare noalias ptr @calloc(i64 noundef, i64 noundef) local_unnamed_addr nounwind noinline

define internal fastcc range(i32 0, 2) i32 @grow(ptr noundef nonnull captures(none) %0, i64 noundef range(i64 4096, -63) %1) unnamed_addr nounwind noinline {
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
  br i1 %14, label %38, label %15

15:                                               ; preds = %12
  %16 = shl i64 %13, 2
  %17 = icmp eq i64 %13, 0
  %18 = tail call i64 @llvm.umin.i64(i64 %16, i64 268435456)
  %19 = select i1 %17, i64 65536, i64 %18
  %20 = add nuw i64 %1, 96
  %21 = tail call i64 @llvm.umax.i64(i64 %19, i64 %20)
  %22 = tail call ptr @__zymase_take(i64 noundef range(i64 4192, 0) %21) nounwind noinline
  %23 = icmp eq ptr %22, null
  br i1 %23, label %24, label %27

24:                                               ; preds = %15
  %25 = tail call ptr @__zymase_take(i64 noundef range(i64 4192, 0) %20) nounwind noinline
  %26 = icmp eq ptr %25, null
  br i1 %26, label %38, label %27

27:                                               ; preds = %24, %15
  %28 = phi i64 [ %21, %15 ], [ %20, %24 ]
  %29 = phi ptr [ %22, %15 ], [ %25, %24 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(32) %29, ptr noundef nonnull align 8 dereferenceable(32) %0, i64 32, i1 false)
  store ptr %29, ptr %3, align 8
  %30 = getelementptr inbounds nuw i8, ptr %29, i64 32
  %31 = ptrtoint ptr %30 to i64
  %32 = add i64 %31, 63
  %33 = and i64 %32, -64
  %34 = inttoptr i64 %33 to ptr
  store ptr %34, ptr %0, align 8
  %35 = getelementptr inbounds nuw i8, ptr %29, i64 %28
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 16
  store ptr %35, ptr %36, align 8
  %37 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store ptr %35, ptr %37, align 8
  br label %38

38:                                               ; preds = %27, %24, %12
  %39 = phi i32 [ 0, %12 ], [ 1, %27 ], [ 0, %24 ]
  ret i32 %39
}

declare ptr @memset(ptr noundef, i32 noundef, i64 noundef) local_unnamed_addr nounwind noinline

declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) nounwind noinline

declare i64 @llvm.umin.i64(i64, i64) nounwind noinline

declare i64 @llvm.umax.i64(i64, i64) nounwind noinline

