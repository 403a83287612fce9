"""Looking inside: explanations of single sequences, and the report of a model."""
