"""What K is: positive semidefinite matrices known by products, diagonal, columns and restriction."""
