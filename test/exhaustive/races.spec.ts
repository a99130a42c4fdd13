/** Repeated often: see `repeated`. */
import '../e2e/races.long-spec';
