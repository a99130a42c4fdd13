/** Repeated often: see `repeated`. */
import '../e2e/memory-races.long-spec';
