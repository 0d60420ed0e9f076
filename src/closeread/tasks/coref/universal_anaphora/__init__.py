"""What Universal Anaphora annotates beside identity: split antecedents, bridging, non-referring markables, deixis."""
