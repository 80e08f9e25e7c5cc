"""The sections that only one kind of report has; `content.kinds` tells the kinds."""
