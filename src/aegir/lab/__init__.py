"""Everything that learns or measures: networks in torch, training tables, recipes, figures."""
