/** With more at once, on either log: see `repeated`. */
import '../e2e/parallel-writes.long-spec';
