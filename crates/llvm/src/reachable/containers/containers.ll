
%struct.node = type { i32, ptr, ptr, ptr }
%struct.link = type { ptr, ptr }

; Function Attrs: nounwind uwtable
define linkonce_odr void @_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(i1 noundef zeroext %0, ptr noundef %1, ptr noundef %2, ptr noundef %3) nounwind {
  %5 = zext i1 %0 to i8
  %6 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 1
  store ptr %2, ptr %6, align 8, !tbaa !8
  %7 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 3
  store ptr null, ptr %7, align 8, !tbaa !12
  %8 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 2
  store ptr null, ptr %8, align 8, !tbaa !13
  %9 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 0
  store i32 0, ptr %9, align 8, !tbaa !14
  %10 = icmp eq ptr %2, %3
  br i1 %10, label %11, label %15

11:                                               ; preds = %4
  %12 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 3
  store ptr %1, ptr %12, align 8, !tbaa !12
  %13 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 2
  store ptr %1, ptr %13, align 8, !tbaa !13
  %14 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 1
  store ptr %1, ptr %14, align 8, !tbaa !8
  br label %31

15:                                               ; preds = %4
  %16 = trunc i8 %5 to i1
  br i1 %16, label %17, label %24

17:                                               ; preds = %15
  %18 = getelementptr inbounds nuw %struct.node, ptr %2, i32 0, i32 2
  store ptr %1, ptr %18, align 8, !tbaa !13
  %19 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 2
  %20 = load ptr, ptr %19, align 8, !tbaa !13
  %21 = icmp eq ptr %20, %2
  br i1 %21, label %22, label %31

22:                                               ; preds = %17
  %23 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 2
  store ptr %1, ptr %23, align 8, !tbaa !13
  br label %31

24:                                               ; preds = %15
  %25 = getelementptr inbounds nuw %struct.node, ptr %2, i32 0, i32 3
  store ptr %1, ptr %25, align 8, !tbaa !12
  %26 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 3
  %27 = load ptr, ptr %26, align 8, !tbaa !12
  %28 = icmp eq ptr %27, %2
  br i1 %28, label %29, label %31

29:                                               ; preds = %24
  %30 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 3
  store ptr %1, ptr %30, align 8, !tbaa !12
  br label %31

31:                                               ; preds = %22, %17, %29, %24, %11
  br label %32

32:                                               ; preds = %85, %31
  %.059 = phi ptr [ %1, %31 ], [ %.1, %85 ]
  %33 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 1
  %34 = load ptr, ptr %33, align 8, !tbaa !8
  %35 = icmp ne ptr %.059, %34
  br i1 %35, label %36, label %.critedge

36:                                               ; preds = %32
  %37 = getelementptr inbounds nuw %struct.node, ptr %.059, i32 0, i32 1
  %38 = load ptr, ptr %37, align 8, !tbaa !8
  %39 = getelementptr inbounds nuw %struct.node, ptr %38, i32 0, i32 0
  %40 = load i32, ptr %39, align 8, !tbaa !14
  %41 = icmp eq i32 %40, 0
  br i1 %41, label %42, label %.critedge

42:                                               ; preds = %36
  %43 = getelementptr inbounds nuw %struct.node, ptr %.059, i32 0, i32 1
  %44 = load ptr, ptr %43, align 8, !tbaa !8
  %45 = getelementptr inbounds nuw %struct.node, ptr %44, i32 0, i32 1
  %46 = load ptr, ptr %45, align 8, !tbaa !8
  %47 = getelementptr inbounds nuw %struct.node, ptr %46, i32 0, i32 2
  %48 = load ptr, ptr %47, align 8, !tbaa !13
  %49 = icmp eq ptr %44, %48
  %50 = zext i1 %49 to i32
  %51 = icmp ne i32 %50, 0
  br i1 %51, label %52, label %55

52:                                               ; preds = %42
  %53 = getelementptr inbounds nuw %struct.node, ptr %46, i32 0, i32 3
  %54 = load ptr, ptr %53, align 8, !tbaa !12
  br label %58

55:                                               ; preds = %42
  %56 = getelementptr inbounds nuw %struct.node, ptr %46, i32 0, i32 2
  %57 = load ptr, ptr %56, align 8, !tbaa !13
  br label %58

58:                                               ; preds = %55, %52
  %59 = phi ptr [ %54, %52 ], [ %57, %55 ]
  %60 = call i32 @is_black(ptr noundef %59)
  %61 = icmp ne i32 %60, 0
  br i1 %61, label %66, label %62

62:                                               ; preds = %58
  %63 = getelementptr inbounds nuw %struct.node, ptr %59, i32 0, i32 0
  store i32 1, ptr %63, align 8, !tbaa !14
  %64 = getelementptr inbounds nuw %struct.node, ptr %44, i32 0, i32 0
  store i32 1, ptr %64, align 8, !tbaa !14
  %65 = getelementptr inbounds nuw %struct.node, ptr %46, i32 0, i32 0
  store i32 0, ptr %65, align 8, !tbaa !14
  br label %85

66:                                               ; preds = %58
  %cond = icmp eq i32 %50, 0
  br i1 %cond, label %74, label %67

67:                                               ; preds = %66
  %68 = getelementptr inbounds nuw %struct.node, ptr %44, i32 0, i32 3
  %69 = load ptr, ptr %68, align 8, !tbaa !12
  %70 = icmp eq ptr %.059, %69
  br i1 %70, label %71, label %72

71:                                               ; preds = %67
  call void @rotate_left(ptr noundef %3, ptr noundef %44)
  br label %79

72:                                               ; preds = %67
  %73 = icmp ne i32 %50, 0
  br i1 %73, label %79, label %74

74:                                               ; preds = %66, %72
  %75 = getelementptr inbounds nuw %struct.node, ptr %44, i32 0, i32 2
  %76 = load ptr, ptr %75, align 8, !tbaa !13
  %77 = icmp eq ptr %.059, %76
  br i1 %77, label %78, label %79

78:                                               ; preds = %74
  call void @rotate_right(ptr noundef %3, ptr noundef %44)
  br label %79

79:                                               ; preds = %72, %74, %78, %71
  %.060 = phi ptr [ %.059, %71 ], [ %44, %72 ], [ %.059, %78 ], [ %44, %74 ]
  %80 = getelementptr inbounds nuw %struct.node, ptr %.060, i32 0, i32 0
  store i32 1, ptr %80, align 8, !tbaa !14
  %81 = getelementptr inbounds nuw %struct.node, ptr %46, i32 0, i32 0
  store i32 0, ptr %81, align 8, !tbaa !14
  %82 = icmp ne i32 %50, 0
  br i1 %82, label %83, label %84

83:                                               ; preds = %79
  call void @rotate_right(ptr noundef %3, ptr noundef %46)
  br label %85

84:                                               ; preds = %79
  call void @rotate_left(ptr noundef %3, ptr noundef %46)
  br label %85

85:                                               ; preds = %83, %84, %62
  %.1 = phi ptr [ %46, %62 ], [ %.059, %84 ], [ %.059, %83 ]
  %.0 = phi i32 [ 2, %62 ], [ 3, %84 ], [ 3, %83 ]
  switch i32 %.0, label %89 [
    i32 2, label %32
    i32 3, label %.critedge
  ]

.critedge:                                        ; preds = %32, %85, %36
  %86 = getelementptr inbounds nuw %struct.node, ptr %3, i32 0, i32 1
  %87 = load ptr, ptr %86, align 8, !tbaa !8
  %88 = getelementptr inbounds nuw %struct.node, ptr %87, i32 0, i32 0
  store i32 1, ptr %88, align 8, !tbaa !14
  ret void

89:                                               ; preds = %85
  unreachable
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)

; Function Attrs: nounwind uwtable
define internal i32 @is_black(ptr noundef %0) nounwind {
  %2 = icmp ne ptr %0, null
  br i1 %2, label %3, label %7

3:                                                ; preds = %1
  %4 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 0
  %5 = load i32, ptr %4, align 8, !tbaa !14
  %6 = icmp eq i32 %5, 1
  br label %7

7:                                                ; preds = %3, %1
  %8 = phi i1 [ true, %1 ], [ %6, %3 ]
  %9 = zext i1 %8 to i32
  ret i32 %9
}

; Function Attrs: nounwind uwtable
define internal void @rotate_left(ptr noundef %0, ptr noundef %1) nounwind {
  %3 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 3
  %4 = load ptr, ptr %3, align 8, !tbaa !12
  %5 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 2
  %6 = load ptr, ptr %5, align 8, !tbaa !13
  %7 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 3
  store ptr %6, ptr %7, align 8, !tbaa !12
  %8 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 2
  %9 = load ptr, ptr %8, align 8, !tbaa !13
  %10 = icmp ne ptr %9, null
  br i1 %10, label %11, label %15

11:                                               ; preds = %2
  %12 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 2
  %13 = load ptr, ptr %12, align 8, !tbaa !13
  %14 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 1
  store ptr %1, ptr %14, align 8, !tbaa !8
  br label %15

15:                                               ; preds = %11, %2
  call void @replace(ptr noundef %0, ptr noundef %1, ptr noundef %4)
  %16 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 1
  %17 = load ptr, ptr %16, align 8, !tbaa !8
  %18 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 1
  store ptr %17, ptr %18, align 8, !tbaa !8
  %19 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 2
  store ptr %1, ptr %19, align 8, !tbaa !13
  %20 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 1
  store ptr %4, ptr %20, align 8, !tbaa !8
  ret void
}

; Function Attrs: nounwind uwtable
define internal void @rotate_right(ptr noundef %0, ptr noundef %1) nounwind {
  %3 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 2
  %4 = load ptr, ptr %3, align 8, !tbaa !13
  %5 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 3
  %6 = load ptr, ptr %5, align 8, !tbaa !12
  %7 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 2
  store ptr %6, ptr %7, align 8, !tbaa !13
  %8 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 3
  %9 = load ptr, ptr %8, align 8, !tbaa !12
  %10 = icmp ne ptr %9, null
  br i1 %10, label %11, label %15

11:                                               ; preds = %2
  %12 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 3
  %13 = load ptr, ptr %12, align 8, !tbaa !12
  %14 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 1
  store ptr %1, ptr %14, align 8, !tbaa !8
  br label %15

15:                                               ; preds = %11, %2
  call void @replace(ptr noundef %0, ptr noundef %1, ptr noundef %4)
  %16 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 1
  %17 = load ptr, ptr %16, align 8, !tbaa !8
  %18 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 1
  store ptr %17, ptr %18, align 8, !tbaa !8
  %19 = getelementptr inbounds nuw %struct.node, ptr %4, i32 0, i32 3
  store ptr %1, ptr %19, align 8, !tbaa !12
  %20 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 1
  store ptr %4, ptr %20, align 8, !tbaa !8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)

; Function Attrs: nounwind uwtable
define linkonce_odr ptr @_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(ptr noundef %0, ptr noundef %1) nounwind {
  %3 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 2
  %4 = load ptr, ptr %3, align 8, !tbaa !13
  %5 = icmp ne ptr %4, null
  br i1 %5, label %6, label %48

6:                                                ; preds = %2
  %7 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %8 = load ptr, ptr %7, align 8, !tbaa !12
  %9 = icmp ne ptr %8, null
  br i1 %9, label %10, label %48

10:                                               ; preds = %6
  %11 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %12 = load ptr, ptr %11, align 8, !tbaa !12
  %13 = call ptr @first(ptr noundef %12)
  %14 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 0
  %15 = load i32, ptr %14, align 8, !tbaa !14
  %16 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 3
  %17 = load ptr, ptr %16, align 8, !tbaa !12
  %18 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 1
  %19 = load ptr, ptr %18, align 8, !tbaa !8
  %20 = icmp ne ptr %19, %0
  br i1 %20, label %21, label %35

21:                                               ; preds = %10
  %22 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 1
  %23 = load ptr, ptr %22, align 8, !tbaa !8
  %24 = icmp ne ptr %17, null
  br i1 %24, label %25, label %27

25:                                               ; preds = %21
  %26 = getelementptr inbounds nuw %struct.node, ptr %17, i32 0, i32 1
  store ptr %23, ptr %26, align 8, !tbaa !8
  br label %27

27:                                               ; preds = %25, %21
  %28 = getelementptr inbounds nuw %struct.node, ptr %23, i32 0, i32 2
  store ptr %17, ptr %28, align 8, !tbaa !13
  %29 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %30 = load ptr, ptr %29, align 8, !tbaa !12
  %31 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 3
  store ptr %30, ptr %31, align 8, !tbaa !12
  %32 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 3
  %33 = load ptr, ptr %32, align 8, !tbaa !12
  %34 = getelementptr inbounds nuw %struct.node, ptr %33, i32 0, i32 1
  store ptr %13, ptr %34, align 8, !tbaa !8
  br label %35

35:                                               ; preds = %27, %10
  %.057 = phi ptr [ %23, %27 ], [ %13, %10 ]
  call void @replace(ptr noundef %1, ptr noundef %0, ptr noundef %13)
  %36 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 2
  %37 = load ptr, ptr %36, align 8, !tbaa !13
  %38 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 2
  store ptr %37, ptr %38, align 8, !tbaa !13
  %39 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 2
  %40 = load ptr, ptr %39, align 8, !tbaa !13
  %41 = getelementptr inbounds nuw %struct.node, ptr %40, i32 0, i32 1
  store ptr %13, ptr %41, align 8, !tbaa !8
  %42 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 1
  %43 = load ptr, ptr %42, align 8, !tbaa !8
  %44 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 1
  store ptr %43, ptr %44, align 8, !tbaa !8
  %45 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 0
  %46 = load i32, ptr %45, align 8, !tbaa !14
  %47 = getelementptr inbounds nuw %struct.node, ptr %13, i32 0, i32 0
  store i32 %46, ptr %47, align 8, !tbaa !14
  br label %98

48:                                               ; preds = %6, %2
  %49 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 0
  %50 = load i32, ptr %49, align 8, !tbaa !14
  %51 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 2
  %52 = load ptr, ptr %51, align 8, !tbaa !13
  %53 = icmp ne ptr %52, null
  br i1 %53, label %54, label %57

54:                                               ; preds = %48
  %55 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 2
  %56 = load ptr, ptr %55, align 8, !tbaa !13
  br label %60

57:                                               ; preds = %48
  %58 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %59 = load ptr, ptr %58, align 8, !tbaa !12
  br label %60

60:                                               ; preds = %57, %54
  %61 = phi ptr [ %56, %54 ], [ %59, %57 ]
  %62 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 1
  %63 = load ptr, ptr %62, align 8, !tbaa !8
  %64 = icmp ne ptr %61, null
  br i1 %64, label %65, label %67

65:                                               ; preds = %60
  %66 = getelementptr inbounds nuw %struct.node, ptr %61, i32 0, i32 1
  store ptr %63, ptr %66, align 8, !tbaa !8
  br label %67

67:                                               ; preds = %65, %60
  %68 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 2
  %69 = load ptr, ptr %68, align 8, !tbaa !13
  %70 = icmp eq ptr %69, %0
  br i1 %70, label %71, label %82

71:                                               ; preds = %67
  %72 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %73 = load ptr, ptr %72, align 8, !tbaa !12
  %74 = icmp ne ptr %73, null
  br i1 %74, label %75, label %79

75:                                               ; preds = %71
  %76 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %77 = load ptr, ptr %76, align 8, !tbaa !12
  %78 = call ptr @first(ptr noundef %77)
  br label %79

79:                                               ; preds = %71, %75
  %80 = phi ptr [ %78, %75 ], [ %63, %71 ]
  %81 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 2
  store ptr %80, ptr %81, align 8, !tbaa !13
  br label %82

82:                                               ; preds = %79, %67
  %83 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 3
  %84 = load ptr, ptr %83, align 8, !tbaa !12
  %85 = icmp eq ptr %84, %0
  br i1 %85, label %86, label %97

86:                                               ; preds = %82
  %87 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 2
  %88 = load ptr, ptr %87, align 8, !tbaa !13
  %89 = icmp ne ptr %88, null
  br i1 %89, label %90, label %94

90:                                               ; preds = %86
  %91 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 2
  %92 = load ptr, ptr %91, align 8, !tbaa !13
  %93 = call ptr @last(ptr noundef %92)
  br label %94

94:                                               ; preds = %86, %90
  %95 = phi ptr [ %93, %90 ], [ %63, %86 ]
  %96 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 3
  store ptr %95, ptr %96, align 8, !tbaa !12
  br label %97

97:                                               ; preds = %94, %82
  call void @replace(ptr noundef %1, ptr noundef %0, ptr noundef %61)
  br label %98

98:                                               ; preds = %97, %35
  %.1 = phi ptr [ %.057, %35 ], [ %63, %97 ]
  %.056 = phi i32 [ %15, %35 ], [ %50, %97 ]
  %.0 = phi ptr [ %17, %35 ], [ %61, %97 ]
  %99 = icmp eq i32 %.056, 1
  br i1 %99, label %100, label %101

100:                                              ; preds = %98
  call void @darken(ptr noundef %1, ptr noundef %.0, ptr noundef %.1)
  br label %101

101:                                              ; preds = %100, %98
  ret ptr %0
}

; Function Attrs: nounwind uwtable
define internal ptr @first(ptr noundef %0) nounwind {
  br label %2

2:                                                ; preds = %6, %1
  %.0 = phi ptr [ %0, %1 ], [ %8, %6 ]
  %3 = getelementptr inbounds nuw %struct.node, ptr %.0, i32 0, i32 2
  %4 = load ptr, ptr %3, align 8, !tbaa !13
  %5 = icmp ne ptr %4, null
  br i1 %5, label %6, label %9

6:                                                ; preds = %2
  %7 = getelementptr inbounds nuw %struct.node, ptr %.0, i32 0, i32 2
  %8 = load ptr, ptr %7, align 8, !tbaa !13
  br label %2

9:                                                ; preds = %2
  ret ptr %.0
}

; Function Attrs: nounwind uwtable
define internal void @replace(ptr noundef %0, ptr noundef %1, ptr noundef %2) nounwind {
  %4 = getelementptr inbounds nuw %struct.node, ptr %1, i32 0, i32 1
  %5 = load ptr, ptr %4, align 8, !tbaa !8
  %6 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 1
  %7 = load ptr, ptr %6, align 8, !tbaa !8
  %8 = icmp eq ptr %7, %1
  br i1 %8, label %9, label %11

9:                                                ; preds = %3
  %10 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 1
  store ptr %2, ptr %10, align 8, !tbaa !8
  br label %19

11:                                               ; preds = %3
  %12 = getelementptr inbounds nuw %struct.node, ptr %5, i32 0, i32 2
  %13 = load ptr, ptr %12, align 8, !tbaa !13
  %14 = icmp eq ptr %13, %1
  br i1 %14, label %15, label %17

15:                                               ; preds = %11
  %16 = getelementptr inbounds nuw %struct.node, ptr %5, i32 0, i32 2
  store ptr %2, ptr %16, align 8, !tbaa !13
  br label %19

17:                                               ; preds = %11
  %18 = getelementptr inbounds nuw %struct.node, ptr %5, i32 0, i32 3
  store ptr %2, ptr %18, align 8, !tbaa !12
  br label %19

19:                                               ; preds = %15, %17, %9
  ret void
}

; Function Attrs: nounwind uwtable
define internal ptr @last(ptr noundef %0) nounwind {
  br label %2

2:                                                ; preds = %6, %1
  %.0 = phi ptr [ %0, %1 ], [ %8, %6 ]
  %3 = getelementptr inbounds nuw %struct.node, ptr %.0, i32 0, i32 3
  %4 = load ptr, ptr %3, align 8, !tbaa !12
  %5 = icmp ne ptr %4, null
  br i1 %5, label %6, label %9

6:                                                ; preds = %2
  %7 = getelementptr inbounds nuw %struct.node, ptr %.0, i32 0, i32 3
  %8 = load ptr, ptr %7, align 8, !tbaa !12
  br label %2

9:                                                ; preds = %2
  ret ptr %.0
}

; Function Attrs: nounwind uwtable
define internal void @darken(ptr noundef %0, ptr noundef %1, ptr noundef %2) nounwind {
  br label %4

4:                                                ; preds = %98, %3
  %.053 = phi ptr [ %2, %3 ], [ %.154, %98 ]
  %.050 = phi ptr [ %1, %3 ], [ %.252, %98 ]
  %5 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 1
  %6 = load ptr, ptr %5, align 8, !tbaa !8
  %7 = icmp ne ptr %.050, %6
  br i1 %7, label %8, label %.critedge

8:                                                ; preds = %4
  %9 = call i32 @is_black(ptr noundef %.050)
  %10 = icmp ne i32 %9, 0
  br i1 %10, label %11, label %.critedge

11:                                               ; preds = %8
  %12 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 2
  %13 = load ptr, ptr %12, align 8, !tbaa !13
  %14 = icmp eq ptr %.050, %13
  %15 = zext i1 %14 to i32
  %16 = icmp ne i32 %15, 0
  br i1 %16, label %17, label %20

17:                                               ; preds = %11
  %18 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 3
  %19 = load ptr, ptr %18, align 8, !tbaa !12
  br label %23

20:                                               ; preds = %11
  %21 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 2
  %22 = load ptr, ptr %21, align 8, !tbaa !13
  br label %23

23:                                               ; preds = %20, %17
  %24 = phi ptr [ %19, %17 ], [ %22, %20 ]
  %25 = getelementptr inbounds nuw %struct.node, ptr %24, i32 0, i32 0
  %26 = load i32, ptr %25, align 8, !tbaa !14
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %28, label %42

28:                                               ; preds = %23
  %29 = getelementptr inbounds nuw %struct.node, ptr %24, i32 0, i32 0
  store i32 1, ptr %29, align 8, !tbaa !14
  %30 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 0
  store i32 0, ptr %30, align 8, !tbaa !14
  %31 = icmp ne i32 %15, 0
  br i1 %31, label %32, label %33

32:                                               ; preds = %28
  call void @rotate_left(ptr noundef %0, ptr noundef %.053)
  br label %34

33:                                               ; preds = %28
  call void @rotate_right(ptr noundef %0, ptr noundef %.053)
  br label %34

34:                                               ; preds = %33, %32
  %35 = icmp ne i32 %15, 0
  br i1 %35, label %36, label %39

36:                                               ; preds = %34
  %37 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 3
  %38 = load ptr, ptr %37, align 8, !tbaa !12
  br label %42

39:                                               ; preds = %34
  %40 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 2
  %41 = load ptr, ptr %40, align 8, !tbaa !13
  br label %42

42:                                               ; preds = %36, %39, %23
  %.049 = phi ptr [ %24, %23 ], [ %38, %36 ], [ %41, %39 ]
  %43 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 2
  %44 = load ptr, ptr %43, align 8, !tbaa !13
  %45 = call i32 @is_black(ptr noundef %44)
  %46 = icmp ne i32 %45, 0
  br i1 %46, label %47, label %56

47:                                               ; preds = %42
  %48 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 3
  %49 = load ptr, ptr %48, align 8, !tbaa !12
  %50 = call i32 @is_black(ptr noundef %49)
  %51 = icmp ne i32 %50, 0
  br i1 %51, label %52, label %56

52:                                               ; preds = %47
  %53 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 0
  store i32 0, ptr %53, align 8, !tbaa !14
  %54 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 1
  %55 = load ptr, ptr %54, align 8, !tbaa !8
  br label %98

56:                                               ; preds = %47, %42
  %57 = icmp ne i32 %15, 0
  br i1 %57, label %58, label %74

58:                                               ; preds = %56
  %59 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 3
  %60 = load ptr, ptr %59, align 8, !tbaa !12
  %61 = call i32 @is_black(ptr noundef %60)
  %62 = icmp ne i32 %61, 0
  br i1 %62, label %63, label %70

63:                                               ; preds = %58
  %64 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 2
  %65 = load ptr, ptr %64, align 8, !tbaa !13
  %66 = getelementptr inbounds nuw %struct.node, ptr %65, i32 0, i32 0
  store i32 1, ptr %66, align 8, !tbaa !14
  %67 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 0
  store i32 0, ptr %67, align 8, !tbaa !14
  call void @rotate_right(ptr noundef %0, ptr noundef %.049)
  %68 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 3
  %69 = load ptr, ptr %68, align 8, !tbaa !12
  br label %70

70:                                               ; preds = %63, %58
  %.1 = phi ptr [ %69, %63 ], [ %.049, %58 ]
  %71 = getelementptr inbounds nuw %struct.node, ptr %.1, i32 0, i32 3
  %72 = load ptr, ptr %71, align 8, !tbaa !12
  %73 = getelementptr inbounds nuw %struct.node, ptr %72, i32 0, i32 0
  store i32 1, ptr %73, align 8, !tbaa !14
  br label %90

74:                                               ; preds = %56
  %75 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 2
  %76 = load ptr, ptr %75, align 8, !tbaa !13
  %77 = call i32 @is_black(ptr noundef %76)
  %78 = icmp ne i32 %77, 0
  br i1 %78, label %79, label %86

79:                                               ; preds = %74
  %80 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 3
  %81 = load ptr, ptr %80, align 8, !tbaa !12
  %82 = getelementptr inbounds nuw %struct.node, ptr %81, i32 0, i32 0
  store i32 1, ptr %82, align 8, !tbaa !14
  %83 = getelementptr inbounds nuw %struct.node, ptr %.049, i32 0, i32 0
  store i32 0, ptr %83, align 8, !tbaa !14
  call void @rotate_left(ptr noundef %0, ptr noundef %.049)
  %84 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 2
  %85 = load ptr, ptr %84, align 8, !tbaa !13
  br label %86

86:                                               ; preds = %79, %74
  %.3 = phi ptr [ %85, %79 ], [ %.049, %74 ]
  %87 = getelementptr inbounds nuw %struct.node, ptr %.3, i32 0, i32 2
  %88 = load ptr, ptr %87, align 8, !tbaa !13
  %89 = getelementptr inbounds nuw %struct.node, ptr %88, i32 0, i32 0
  store i32 1, ptr %89, align 8, !tbaa !14
  br label %90

90:                                               ; preds = %86, %70
  %.2 = phi ptr [ %.1, %70 ], [ %.3, %86 ]
  %91 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 0
  %92 = load i32, ptr %91, align 8, !tbaa !14
  %93 = getelementptr inbounds nuw %struct.node, ptr %.2, i32 0, i32 0
  store i32 %92, ptr %93, align 8, !tbaa !14
  %94 = getelementptr inbounds nuw %struct.node, ptr %.053, i32 0, i32 0
  store i32 1, ptr %94, align 8, !tbaa !14
  %95 = icmp ne i32 %15, 0
  br i1 %95, label %96, label %97

96:                                               ; preds = %90
  call void @rotate_left(ptr noundef %0, ptr noundef %.053)
  br label %98

97:                                               ; preds = %90
  call void @rotate_right(ptr noundef %0, ptr noundef %.053)
  br label %98

98:                                               ; preds = %96, %97, %52
  %.154 = phi ptr [ %55, %52 ], [ %.053, %97 ], [ %.053, %96 ]
  %.252 = phi ptr [ %.053, %52 ], [ %.050, %97 ], [ %.050, %96 ]
  %.0 = phi i32 [ 2, %52 ], [ 3, %97 ], [ 3, %96 ]
  switch i32 %.0, label %103 [
    i32 2, label %4
    i32 3, label %.critedge
  ]

.critedge:                                        ; preds = %4, %98, %8
  %.151 = phi ptr [ %.252, %98 ], [ %.050, %8 ], [ %.050, %4 ]
  %99 = icmp ne ptr %.151, null
  br i1 %99, label %100, label %102

100:                                              ; preds = %.critedge
  %101 = getelementptr inbounds nuw %struct.node, ptr %.151, i32 0, i32 0
  store i32 1, ptr %101, align 8, !tbaa !14
  br label %102

102:                                              ; preds = %100, %.critedge
  ret void

103:                                              ; preds = %98
  unreachable
}

; Function Attrs: nounwind uwtable
define linkonce_odr ptr @_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(ptr noundef %0) nounwind {
  %2 = call ptr @next(ptr noundef %0)
  ret ptr %2
}

; Function Attrs: nounwind uwtable
define internal ptr @next(ptr noundef %0) nounwind {
  %2 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %3 = load ptr, ptr %2, align 8, !tbaa !12
  %4 = icmp ne ptr %3, null
  br i1 %4, label %5, label %9

5:                                                ; preds = %1
  %6 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %7 = load ptr, ptr %6, align 8, !tbaa !12
  %8 = call ptr @first(ptr noundef %7)
  br label %23

9:                                                ; preds = %1
  %10 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 1
  %11 = load ptr, ptr %10, align 8, !tbaa !8
  br label %12

12:                                               ; preds = %16, %9
  %.012 = phi ptr [ %0, %9 ], [ %.0, %16 ]
  %.0 = phi ptr [ %11, %9 ], [ %18, %16 ]
  %13 = getelementptr inbounds nuw %struct.node, ptr %.0, i32 0, i32 3
  %14 = load ptr, ptr %13, align 8, !tbaa !12
  %15 = icmp eq ptr %.012, %14
  br i1 %15, label %16, label %19

16:                                               ; preds = %12
  %17 = getelementptr inbounds nuw %struct.node, ptr %.0, i32 0, i32 1
  %18 = load ptr, ptr %17, align 8, !tbaa !8
  br label %12

19:                                               ; preds = %12
  %20 = getelementptr inbounds nuw %struct.node, ptr %.012, i32 0, i32 3
  %21 = load ptr, ptr %20, align 8, !tbaa !12
  %22 = icmp eq ptr %21, %.0
  %.012..0 = select i1 %22, ptr %.012, ptr %.0
  br label %23

23:                                               ; preds = %19, %5
  %.013 = phi ptr [ %8, %5 ], [ %.012..0, %19 ]
  ret ptr %.013
}

; Function Attrs: nounwind uwtable
define linkonce_odr ptr @_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(ptr noundef %0) nounwind {
  %2 = call ptr @next(ptr noundef %0)
  ret ptr %2
}

; Function Attrs: nounwind uwtable
define linkonce_odr ptr @_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(ptr noundef %0) nounwind {
  %2 = call ptr @previous(ptr noundef %0)
  ret ptr %2
}

; Function Attrs: nounwind uwtable
define internal ptr @previous(ptr noundef %0) nounwind {
  %2 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 0
  %3 = load i32, ptr %2, align 8, !tbaa !14
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %14

5:                                                ; preds = %1
  %6 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 1
  %7 = load ptr, ptr %6, align 8, !tbaa !8
  %8 = getelementptr inbounds nuw %struct.node, ptr %7, i32 0, i32 1
  %9 = load ptr, ptr %8, align 8, !tbaa !8
  %10 = icmp eq ptr %9, %0
  br i1 %10, label %11, label %14

11:                                               ; preds = %5
  %12 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 3
  %13 = load ptr, ptr %12, align 8, !tbaa !12
  br label %32

14:                                               ; preds = %5, %1
  %15 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 2
  %16 = load ptr, ptr %15, align 8, !tbaa !13
  %17 = icmp ne ptr %16, null
  br i1 %17, label %18, label %22

18:                                               ; preds = %14
  %19 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 2
  %20 = load ptr, ptr %19, align 8, !tbaa !13
  %21 = call ptr @last(ptr noundef %20)
  br label %32

22:                                               ; preds = %14
  %23 = getelementptr inbounds nuw %struct.node, ptr %0, i32 0, i32 1
  %24 = load ptr, ptr %23, align 8, !tbaa !8
  br label %25

25:                                               ; preds = %29, %22
  %.013 = phi ptr [ %0, %22 ], [ %.0, %29 ]
  %.0 = phi ptr [ %24, %22 ], [ %31, %29 ]
  %26 = getelementptr inbounds nuw %struct.node, ptr %.0, i32 0, i32 2
  %27 = load ptr, ptr %26, align 8, !tbaa !13
  %28 = icmp eq ptr %.013, %27
  br i1 %28, label %29, label %32

29:                                               ; preds = %25
  %30 = getelementptr inbounds nuw %struct.node, ptr %.0, i32 0, i32 1
  %31 = load ptr, ptr %30, align 8, !tbaa !8
  br label %25

32:                                               ; preds = %25, %18, %11
  %.014 = phi ptr [ %13, %11 ], [ %21, %18 ], [ %.0, %25 ]
  ret ptr %.014
}

; Function Attrs: nounwind uwtable
define linkonce_odr ptr @_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(ptr noundef %0) nounwind {
  %2 = call ptr @previous(ptr noundef %0)
  ret ptr %2
}

; Function Attrs: nounwind uwtable
define linkonce_odr void @_ZNSt8__detail15_List_node_base7_M_hookEPS0_(ptr noundef %0, ptr noundef %1) nounwind {
  %3 = getelementptr inbounds nuw %struct.link, ptr %1, i32 0, i32 1
  %4 = load ptr, ptr %3, align 8, !tbaa !23
  call void @join(ptr noundef %4, ptr noundef %0)
  call void @join(ptr noundef %0, ptr noundef %1)
  ret void
}

; Function Attrs: nounwind uwtable
define internal void @join(ptr noundef %0, ptr noundef %1) nounwind {
  %3 = getelementptr inbounds nuw %struct.link, ptr %0, i32 0, i32 0
  store ptr %1, ptr %3, align 8, !tbaa !26
  %4 = getelementptr inbounds nuw %struct.link, ptr %1, i32 0, i32 1
  store ptr %0, ptr %4, align 8, !tbaa !23
  ret void
}

; Function Attrs: nounwind uwtable
define linkonce_odr void @_ZNSt8__detail15_List_node_base9_M_unhookEv(ptr noundef %0) nounwind {
  %2 = getelementptr inbounds nuw %struct.link, ptr %0, i32 0, i32 1
  %3 = load ptr, ptr %2, align 8, !tbaa !23
  %4 = getelementptr inbounds nuw %struct.link, ptr %0, i32 0, i32 0
  %5 = load ptr, ptr %4, align 8, !tbaa !26
  call void @join(ptr noundef %3, ptr noundef %5)
  ret void
}

; Function Attrs: nounwind uwtable
define linkonce_odr void @_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(ptr noundef %0, ptr noundef %1, ptr noundef %2) nounwind {
  %4 = icmp eq ptr %0, %2
  br i1 %4, label %12, label %5

5:                                                ; preds = %3
  %6 = getelementptr inbounds nuw %struct.link, ptr %2, i32 0, i32 1
  %7 = load ptr, ptr %6, align 8, !tbaa !23
  %8 = getelementptr inbounds nuw %struct.link, ptr %1, i32 0, i32 1
  %9 = load ptr, ptr %8, align 8, !tbaa !23
  call void @join(ptr noundef %9, ptr noundef %2)
  %10 = getelementptr inbounds nuw %struct.link, ptr %0, i32 0, i32 1
  %11 = load ptr, ptr %10, align 8, !tbaa !23
  call void @join(ptr noundef %11, ptr noundef %1)
  call void @join(ptr noundef %7, ptr noundef %0)
  br label %12

12:                                               ; preds = %3, %5
  ret void
}

; Function Attrs: nounwind uwtable
define linkonce_odr void @_ZNSt8__detail15_List_node_base10_M_reverseEv(ptr noundef %0) nounwind {
  br label %2

2:                                                ; preds = %2, %1
  %.0 = phi ptr [ %0, %1 ], [ %4, %2 ]
  %3 = getelementptr inbounds nuw %struct.link, ptr %.0, i32 0, i32 0
  %4 = load ptr, ptr %3, align 8, !tbaa !26
  %5 = getelementptr inbounds nuw %struct.link, ptr %.0, i32 0, i32 1
  %6 = load ptr, ptr %5, align 8, !tbaa !23
  %7 = getelementptr inbounds nuw %struct.link, ptr %.0, i32 0, i32 0
  store ptr %6, ptr %7, align 8, !tbaa !26
  %8 = getelementptr inbounds nuw %struct.link, ptr %.0, i32 0, i32 1
  store ptr %4, ptr %8, align 8, !tbaa !23
  %9 = icmp ne ptr %4, %0
  br i1 %9, label %2, label %10

10:                                               ; preds = %2
  ret void
}

; Function Attrs: nounwind uwtable
define linkonce_odr void @_ZNSt8__detail15_List_node_base4swapERS0_S1_(ptr noundef %0, ptr noundef %1) nounwind {
  %.sroa.02.0.copyload = load ptr, ptr %0, align 8, !tbaa !28
  %.sroa.54.0..sroa_idx = getelementptr inbounds i8, ptr %0, i64 8
  %.sroa.54.0.copyload = load ptr, ptr %.sroa.54.0..sroa_idx, align 8, !tbaa !28
  %.sroa.0.0.copyload = load ptr, ptr %1, align 8, !tbaa !28
  %.sroa.5.0..sroa_idx = getelementptr inbounds i8, ptr %1, i64 8
  %.sroa.5.0.copyload = load ptr, ptr %.sroa.5.0..sroa_idx, align 8, !tbaa !28
  %3 = icmp eq ptr %.sroa.0.0.copyload, %1
  br i1 %3, label %4, label %7

4:                                                ; preds = %2
  %5 = getelementptr inbounds nuw %struct.link, ptr %0, i32 0, i32 1
  store ptr %0, ptr %5, align 8, !tbaa !23
  %6 = getelementptr inbounds nuw %struct.link, ptr %0, i32 0, i32 0
  store ptr %0, ptr %6, align 8, !tbaa !26
  br label %8

7:                                                ; preds = %2
  call void @join(ptr noundef %0, ptr noundef %.sroa.0.0.copyload)
  call void @join(ptr noundef %.sroa.5.0.copyload, ptr noundef %0)
  br label %8

8:                                                ; preds = %7, %4
  %9 = icmp eq ptr %.sroa.02.0.copyload, %0
  br i1 %9, label %10, label %13

10:                                               ; preds = %8
  %11 = getelementptr inbounds nuw %struct.link, ptr %1, i32 0, i32 1
  store ptr %1, ptr %11, align 8, !tbaa !23
  %12 = getelementptr inbounds nuw %struct.link, ptr %1, i32 0, i32 0
  store ptr %1, ptr %12, align 8, !tbaa !26
  br label %14

13:                                               ; preds = %8
  call void @join(ptr noundef %1, ptr noundef %.sroa.02.0.copyload)
  call void @join(ptr noundef %.sroa.54.0.copyload, ptr noundef %1)
  br label %14

14:                                               ; preds = %13, %10
  ret void
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)


!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.errno.tbaa = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 2}
!4 = !{!5, !5, i64 0}
!5 = !{!"int", !6, i64 0}
!6 = !{!"omnipotent char", !7, i64 0}
!7 = !{!"Simple C/C++ TBAA"}
!8 = !{!9, !10, i64 8}
!9 = !{!"node", !5, i64 0, !10, i64 8, !10, i64 16, !10, i64 24}
!10 = !{!"p1 _ZTS4node", !11, i64 0}
!11 = !{!"any pointer", !6, i64 0}
!12 = !{!9, !10, i64 24}
!13 = !{!9, !10, i64 16}
!14 = !{!9, !5, i64 0}
!15 = distinct !{!15, !16, !17}
!16 = !{!"llvm.loop.mustprogress"}
!17 = !{!"llvm.loop.unroll.disable"}
!18 = distinct !{!18, !16, !17}
!19 = distinct !{!19, !16, !17}
!20 = distinct !{!20, !16, !17}
!21 = distinct !{!21, !16, !17}
!22 = distinct !{!22, !16, !17}
!23 = !{!24, !25, i64 8}
!24 = !{!"link", !25, i64 0, !25, i64 8}
!25 = !{!"p1 _ZTS4link", !11, i64 0}
!26 = !{!24, !25, i64 0}
!27 = distinct !{!27, !16, !17}
!28 = !{!25, !25, i64 0}
