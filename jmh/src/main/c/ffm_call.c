/* Functions that do next to nothing, and loops that call them through a pointer, as fast as C can. */

/* Neither inlined into the loops nor known to them: a call stays a call. */
#define OPAQUE __attribute__((noipa))

OPAQUE void nothing(void) {}

OPAQUE long five(long a, int b, long c, int d, long e) { return a + b + c + d + e; }

OPAQUE long call_nothing(void (*function)(void), long calls) {
  for (long i = 0; i < calls; i++) {
    function();
  }
  return calls;
}

OPAQUE long call_five(long (*function)(long, int, long, int, long), long calls) {
  long sum = 0;
  for (long i = 0; i < calls; i++) {
    sum += function(i, 2, 3, 4, 5);
  }
  return sum;
}
