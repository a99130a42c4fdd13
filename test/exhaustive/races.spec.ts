/** Repeated often: see `repeated`. */
import '../e2e/races.e2e-spec';
