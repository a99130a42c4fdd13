/** Collects requests while the group before them runs, so that many callers share one operation of a store. */
export class Grouped<Request, Answer> {
  private next: { readonly requests: Request[]; readonly answers: Promise<readonly Answer[]> } | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly work: (requests: readonly Request[]) => Promise<readonly Answer[]>) {}

  /** Resolves to the answer at the request's place in its group; rejects if the group fails. */
  async join(request: Request): Promise<Answer> {
    this.next ??= this.begin();
    const { requests, answers } = this.next;
    const place = requests.push(request) - 1;
    return (await answers)[place] as Answer;
  }

  private begin(): { requests: Request[]; answers: Promise<readonly Answer[]> } {
    const requests: Request[] = [];
    const answers = this.last.then(() => {
      this.next = undefined;
      return this.work(requests);
    });
    this.last = answers.catch(() => undefined);
    return { requests, answers };
  }
}
