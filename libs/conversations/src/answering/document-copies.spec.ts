import { randomBytes } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { type ChatRequest, sourceText } from '@app/models';
import { pay, tool } from '../../../../test/fixtures/scripted-tools';
import {
  calls,
  endTurns,
  ids,
  inTurn,
  meta,
  PARTICIPANTS,
  question,
  says,
  scriptedTurns,
} from '../../../../test/fixtures/scripted-turns';
import { ProvenanceReader } from './provenance-reader';
import type { RetrievedPassage } from './retriever';
import { sourceOf } from './sources';

afterEach(endTurns);

const passageOf = (text: string): RetrievedPassage => {
  const place = { chunkId: ids.next(), text, start: 0, end: text.length };
  const of = { documentId: ids.next(), documentName: `About ${text}`, documentRevision: 3, mediaType: 'text/plain' };
  return { ...of, headings: [`On ${text}`], ...place, chunks: [place] };
};
const [ZEBRA, LION] = ['Zebras sleep\n"standing" up.', 'Lions sleep lying down.'];
const AGENT = { ...question('').agent, revisions: { agent: 7, prompt: 3 } };

/** An Agent that found two documents, and what its model is sent. */
const setUp = () => {
  const [zebra, lion] = [passageOf(ZEBRA), passageOf(LION)];
  const set = scriptedTurns([zebra, lion]);
  const keyOf = ({ documentId }: RetrievedPassage): string => `document-${documentId}`;
  for (const each of [zebra, lion]) set.keys.set(keyOf(each), randomBytes(32));
  const bodies: string[] = [];
  const sending = (said: ReturnType<typeof says>) => (request: ChatRequest) => {
    const { system, messages, sources } = request;
    bodies.push(JSON.stringify({ system, messages, sources: sources.map(sourceText) }));
    request.onSent?.(bodies.at(-1) ?? '');
    return said(request);
  };
  const reader = new ProvenanceReader(set.history, set.copies, undefined, undefined);
  const madeFrom = async (turn: { conversationId: string; answerId: string }) => {
    const { made } = await reader.of(turn.conversationId, turn.answerId);
    return { made, request: await reader.request(turn.conversationId, made) };
  };
  return {
    ...set,
    zebra,
    lion,
    sending,
    bodies,
    madeFrom,
    destroy: (of: RetrievedPassage) => set.keys.delete(keyOf(of)),
  };
};

const wordsOf = (value: unknown): string => JSON.stringify(value ?? null);

describe('what documents say, in what is kept of answers', () => {
  it('reads back byte for byte, and goes with its document, whose name goes too', async () => {
    const { turns, chat, sending, bodies, madeFrom, zebra, lion, destroy } = setUp();
    chat.script = sending(says('They stand [1].'));
    const turn = await turns.ask(question(`Is this true: ${ZEBRA}`, { agent: AGENT }), meta());
    await turn.finished;
    const before = await madeFrom(turn);
    expect(before.request).toEqual({ body: bodies[0], gone: [] });
    const template = inflateSync(Buffer.from(wordsOf(before.made?.request?.template), 'base64')).toString();
    for (const word of ['About', 'On Lions', 'lying down']) expect(template).not.toContain(word);
    destroy(lion);
    const { made, request } = await madeFrom(turn);
    expect(request).toEqual({ body: undefined, gone: [`document:${lion.documentId}`] });
    expect(made?.chunks.map(({ documentId, rank }) => [documentId, rank])).toEqual([
      [zebra.documentId, 1],
      [lion.documentId, 2],
    ]);
    const { answer } = await turn.finished;
    expect(answer.parts[1]).toMatchObject({ type: 'source-document', quote: expect.stringContaining('standing') });
  });

  it('stands in copies alone, also where a tool repeats it', async () => {
    const { turns, chat, tools, sending, bodies, madeFrom, lion, destroy } = setUp();
    tools.push(tool('repeat', () => ({ output: sourceText(sourceOf(lion, 1)) })));
    chat.script = inTurn(sending(calls('I look. ', ['repeat', {}])), sending(says('They lie [2].')));
    const turn = await turns.ask(question('How do lions sleep?', { agent: AGENT }), meta());
    await turn.finished;
    const { made, request } = await madeFrom(turn);
    expect(request?.body).toBe(bodies[1]);
    const template = inflateSync(Buffer.from(wordsOf(made?.request?.template), 'base64')).toString();
    expect(template).not.toContain('lying down');
    destroy(lion);
    expect((await madeFrom(turn)).request?.body).toBeUndefined();
  });

  it('is not kept of a document that was deleted while the answer was made', async () => {
    const { turns, chat, sending, madeFrom, lion, destroy } = setUp();
    chat.script = sending((request) => {
      destroy(lion);
      return says('They lie [2].')(request);
    });
    const turn = await turns.ask(question('How do lions sleep?', { agent: AGENT }), meta());
    expect((await turn.finished).answer.status).toBe('complete');
    expect((await madeFrom(turn)).made).not.toHaveProperty('request');
  });

  it('is cited by an answer that waited unless its document was deleted meanwhile, which stays named', async () => {
    const { turns, process, chat, tools, codec, log, sending, bodies, madeFrom, zebra, lion, destroy } = setUp();
    tools.push(pay());
    chat.script = inTurn(sending(calls('They lie [2]. ', ['pay', {}])), sending(says('They stand [1].')));
    const turn = await turns.ask(question('How do animals sleep?', { agent: AGENT }), meta());
    await turn.finished;
    const isWait = ({ type }: { type: string }): boolean => type === 'ToolApprovalRequested';
    const [wait] = await codec.decode(log.events.filter(isWait));
    // Under the key of the message alone nobody reads them.
    expect(wordsOf(wait?.data)).not.toMatch(/sleep|About|On /);
    destroy(zebra);
    const { conversationId, answerId } = turn;
    const given = { participants: PARTICIPANTS, agent: AGENT, requester: { userId: PARTICIPANTS.userId } };
    await process().respond({ ...given, conversationId, answerId, callId: 'call_0', approved: true }, meta());
    const { answer } = await (
      await process().resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta())
    ).finished;
    expect(bodies[1]).toContain('Lions');
    expect(bodies[1]).not.toContain('Zebras');
    expect(answer.parts.filter(({ type }) => type === 'source-document')).toMatchObject([{ sourceId: lion.chunkId }]);
    expect(answer.parts.at(-1)).toMatchObject({ text: 'They stand [1].' });
    expect((await madeFrom(turn)).made?.chunks.map(({ chunkId, rank }) => [chunkId, rank])).toEqual([
      [zebra.chunkId, 1],
      [lion.chunkId, 2],
    ]);
  });

  it('is read as earlier versions kept it', async () => {
    const { copies, zebra } = setUp();
    expect(await copies.citable({ model: 'chat', usage: null, passages: [zebra] })).toEqual([zebra]);
    expect(await copies.citable({ model: 'chat', usage: null, passages: { erased: true } })).toEqual([]);
  });
});
