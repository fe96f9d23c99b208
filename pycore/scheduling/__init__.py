"""Who runs next: the scheduler, and the policies it is given."""
