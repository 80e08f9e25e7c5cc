"""The sections that only one kind of report has; `fairdesk.report.kinds` tells the kinds."""
