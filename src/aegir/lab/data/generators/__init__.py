"""Made-up columns for closed lists and formats, in the many ways that publishers write them."""
