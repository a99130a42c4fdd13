/** Text that comes in pieces, with each of its line ends as a line feed: CR LF, LF and CR alone are line ends of Server-Sent Events. */
export class LineEnds {
  private isBehindReturn = false;

  /** A piece. A line ends with its carriage return: nothing waits to see whether a line feed follows. */
  read(piece: string): string {
    const rest = this.isBehindReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
    if (piece !== '') this.isBehindReturn = piece.endsWith('\r');
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest;
  }
}
