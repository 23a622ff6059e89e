"""What is known of texts without knowing what they are about; pure, and below every room but the domain."""
