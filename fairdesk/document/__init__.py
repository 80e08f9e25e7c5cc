"""What an audit says, composed once as blocks of plain data, which each renderer draws."""
