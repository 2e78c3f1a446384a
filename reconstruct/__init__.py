"""How rows and images come back: sources, recipes, fetch, store, compare, resolve."""
