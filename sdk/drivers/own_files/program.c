/* A program of a driver's own. */
int main(void) { return 7; }
