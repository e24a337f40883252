/* A library of a driver's own. */
int fake_number(void);
int fake_number(void) { return 42; }
