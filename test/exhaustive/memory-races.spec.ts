/** Repeated often: see `repeated`. */
import '../e2e/memory-races.e2e-spec';
