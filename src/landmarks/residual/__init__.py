"""C = K − K̂ of a choice: columns, products, gains and costs, each with its uncertainty."""
