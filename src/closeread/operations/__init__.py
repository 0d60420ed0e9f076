"""What a user can do, each thing once: the functions of `closeread`, from which its commands are derived."""
