! Functions in Fortran whose derivatives a C program asks for.

real(c_double) function energy(x, n) bind(c)
  use iso_c_binding
  integer(c_int), value :: n
  real(c_double), intent(in) :: x(n)
  integer :: i
  energy = 0
  do i = 1, n
    energy = energy + i * x(i)**2 * sin(x(i))
  end do
end function

subroutine mix(x, y)
  real(8), intent(in) :: x(4)
  real(8), intent(out) :: y(4)
  real(8) :: a(4, 4)
  integer :: i, j
  do j = 1, 4
    do i = 1, 4
      a(i, j) = x(i) / (i + j)
    end do
  end do
  y = exp(-x)
  do j = 1, 4
    y = y + a(:, j) * x(j)
  end do
end subroutine
