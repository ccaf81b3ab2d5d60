/*
 * Prints sizes, offsets and values as the compiler sees them, one fact a line:
 *
 *   size TYPE BYTES      offset TYPE.FIELD BYTES      width TYPE.FIELD BYTES      value NAME NUMBER      room TYPE 0|1
 *
 * Each probe is compiled twice: against kvtier's own header, and with -DPROBE_VENDOR against the vendor's. -DPROBE_MAJOR is the
 * major version of the vendor's headers; kvtier's own declare what the newest has.
 */
#ifndef PROBE_MAJOR
#define PROBE_MAJOR 99
#endif

int printf(const char *format, ...);

#define SIZE(type) printf("size %s %ld\n", #type, (long)sizeof(struct type))
#define FIELD(type, field) \
  printf( \
      "offset %s.%s %ld\nwidth %s.%s %ld\n", \
      #type, \
      #field, \
      (long)__builtin_offsetof(struct type, field), \
      #type, \
      #field, \
      (long)sizeof(((struct type *)0)->field))
/* A structure that ends where the vendor's version says: ours must have room for any. */
#define ROOM(type, bytes) printf("room %s %d\n", #type, (int)(sizeof(struct type) <= (bytes)))
#define VALUE(name) printf("value %s %lld\n", #name, (long long)(name))
#define IS_CALLED_LIKE(function, type) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&function), type), #function " is not called like " #type)
