
%struct.kept = type { i8, i32, i64, [16 x ptr] }

@__zymase_kept = linkonce_odr hidden global %struct.kept zeroinitializer, align 8

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
  %45 = tail call noalias ptr @malloc(i64 noundef %44) nounwind noinline
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
  %63 = tail call noalias ptr @malloc(i64 noundef %44) nounwind noinline
  %64 = icmp eq ptr %63, null
  br i1 %64, label %68, label %65

65:                                               ; preds = %43, %62
  %66 = phi ptr [ %63, %62 ], [ %45, %43 ]
  store i64 %0, ptr %66, align 8
  tail call void @__zymase_use_large_pages(ptr noundef nonnull %66, i64 noundef %44) nounwind noinline
  %67 = getelementptr inbounds nuw i8, ptr %66, i64 16
  br label %68

68:                                               ; preds = %47, %65, %62, %41, %34
  %69 = phi ptr [ %40, %34 ], [ null, %41 ], [ %67, %65 ], [ null, %62 ], [ null, %47 ]
  ret ptr %69
}

declare noalias ptr @malloc(i64 noundef) local_unnamed_addr nounwind noinline

define linkonce_odr hidden void @__zymase_give(ptr noundef %0) local_unnamed_addr nounwind noinline {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %76, label %3

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
  br label %76

12:                                               ; preds = %8
  %13 = icmp samesign ugt i64 %5, 4194303
  br i1 %13, label %14, label %29

14:                                               ; preds = %12
  %15 = ptrtoint ptr %4 to i64
  %16 = add i64 %15, 2097151
  %17 = and i64 %16, -2097152
  %18 = add i64 %5, %15
  %19 = and i64 %18, -2097152
  %20 = tail call ptr @__errno_location() nounwind noinline
  %21 = load i32, ptr %20, align 4
  %22 = icmp ult i64 %17, %19
  br i1 %22, label %23, label %27

23:                                               ; preds = %14
  %24 = inttoptr i64 %17 to ptr
  %25 = sub nuw i64 %19, %17
  %26 = tail call i32 @madvise(ptr noundef %24, i64 noundef %25, i32 noundef 8) nounwind noinline
  br label %27

27:                                               ; preds = %14, %23
  %28 = tail call ptr @__errno_location() nounwind noinline
  store i32 %21, ptr %28, align 4
  br label %29

29:                                               ; preds = %27, %12
  br label %30

30:                                               ; preds = %29, %35
  %31 = phi i64 [ %36, %35 ], [ 0, %29 ]
  %32 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %31
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %33, null
  br i1 %34, label %40, label %35

35:                                               ; preds = %30
  %36 = add nuw nsw i64 %31, 1
  %37 = icmp eq i64 %36, 16
  br i1 %37, label %38, label %30

38:                                               ; preds = %35
  %39 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  br label %48

40:                                               ; preds = %30
  %41 = icmp eq i64 %31, 16
  %42 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  %43 = add i64 %42, %5
  %44 = icmp ugt i64 %43, 1073741824
  %45 = select i1 %41, i1 true, i1 %44
  br i1 %45, label %48, label %46

46:                                               ; preds = %40
  %47 = and i64 %31, 4294967295
  br label %72

48:                                               ; preds = %38, %40
  %49 = phi i64 [ %39, %38 ], [ %42, %40 ]
  %50 = load i32, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 4), align 4
  br label %51

51:                                               ; preds = %48, %65
  %52 = phi i64 [ %66, %65 ], [ %49, %48 ]
  %53 = phi i32 [ %67, %65 ], [ %50, %48 ]
  %54 = add i32 %53, 1
  %55 = and i32 %54, 15
  store i32 %55, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 4), align 4
  %56 = zext i32 %53 to i64
  %57 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %56
  %58 = load ptr, ptr %57, align 8
  %59 = icmp eq ptr %58, null
  br i1 %59, label %65, label %60

60:                                               ; preds = %51
  store ptr null, ptr %57, align 8
  %61 = load i64, ptr %58, align 8
  %62 = sub i64 %52, %61
  store i64 %62, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  tail call void @free(ptr noundef nonnull %58) nounwind noinline
  %63 = load i32, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 4), align 4
  %64 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  br label %65

65:                                               ; preds = %51, %60
  %66 = phi i64 [ %52, %51 ], [ %64, %60 ]
  %67 = phi i32 [ %55, %51 ], [ %63, %60 ]
  %68 = icmp eq i32 %53, 16
  %69 = add i64 %66, %5
  %70 = icmp ugt i64 %69, 1073741824
  %71 = select i1 %68, i1 true, i1 %70
  br i1 %71, label %51, label %72

72:                                               ; preds = %65, %46
  %73 = phi i64 [ %47, %46 ], [ %56, %65 ]
  %74 = phi i64 [ %43, %46 ], [ %69, %65 ]
  %75 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 16), i64 %73
  store ptr %4, ptr %75, align 8
  store i64 %74, ptr getelementptr inbounds nuw (i8, ptr @__zymase_kept, i64 8), align 8
  store atomic i8 0, ptr @__zymase_kept release, align 8
  br label %76

76:                                               ; preds = %11, %72, %1
  ret void
}

declare void @free(ptr noundef) local_unnamed_addr nounwind noinline

declare ptr @__errno_location() local_unnamed_addr nounwind noinline

declare i32 @madvise(ptr noundef, i64 noundef, i32 noundef) local_unnamed_addr nounwind noinline

