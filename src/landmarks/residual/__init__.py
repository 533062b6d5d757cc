"""C = K − K̂ of a choice: columns, products, gains of adding and costs of dropping, each with its uncertainty."""
