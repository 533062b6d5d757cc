"""What K is: positive semidefinite matrices given by products, diagonal, columns, restriction."""
