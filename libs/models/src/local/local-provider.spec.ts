import { readCatalogue, type ModelDescription } from '../catalogue';
import { textOfMessage, userText } from '../chat-messages';
import type { ChatRequest, ChatSource } from '../provider';
import { LocalProvider } from './local-provider';

const model = readCatalogue(undefined, 'USD').models.get('local-chat') as ModelDescription;
const source = (number: number, text: string, headings: string[] = []): ChatSource => ({
  number,
  title: `file ${number}`,
  headings,
  text,
});
const request = (
  question: string,
  sources: readonly ChatSource[],
  signal = new AbortController().signal,
): ChatRequest => ({ model, system: '', messages: [userText(question)], sources, sampling: {}, signal });
const answer = async (question: string, ...sources: ChatSource[]): Promise<string> =>
  textOfMessage(await new LocalProvider('no folder').complete(request(question, sources)));

const KEYS = source(1, 'The log holds events. Each document is encrypted under its own data key. Nobody sleeps.');
const BACKUP = source(2, 'Backups are taken every night.\nThey never contain the keys.', ['Operations', 'Backups']);

describe('the local chat model', () => {
  it('quotes the sentence that answers and cites its source', async () => {
    expect(await answer('How is a document encrypted?', KEYS, BACKUP)).toBe(
      'Each document is encrypted under its own data key. [1]',
    );
    expect(await answer('When are backups taken?', KEYS, BACKUP)).toBe('Backups are taken every night. [2]');
  });

  it('says so when no source answers, and when there is none', async () => {
    expect(await answer('Who won the football match?', KEYS, BACKUP)).toMatch(/^The documents do not answer this/);
    expect(await answer('How is a document encrypted?')).toMatch(/^No document matches this question/);
  });

  it('gives the same answer every time, and streams what it completes', async () => {
    const chat = new LocalProvider('no folder');
    const asked = request('Where are keys and backups?', [KEYS, BACKUP]);
    const whole = await chat.complete(asked);
    expect(await chat.complete(asked)).toEqual(whole);
    let streamed = '';
    for await (const chunk of chat.stream(asked)) if (chunk.type === 'text') streamed += chunk.text;
    expect(streamed).toBe(textOfMessage(whole));
    expect(whole.usage.totalTokens).toBeGreaterThan(0);
  });

  it('ends at once when its caller wishes', async () => {
    await expect(
      new LocalProvider('no folder').complete(request('backups', [BACKUP], AbortSignal.abort(new Error('enough')))),
    ).rejects.toThrow('enough');
  });
});

describe('a limit of the local chat model', () => {
  const said = async (given: Partial<ChatRequest>) => {
    const { content, finishReason } = await new LocalProvider('no folder').complete({
      ...request('When are backups taken?', [KEYS, BACKUP]),
      ...given,
    });
    return [textOfMessage({ content }), finishReason];
  };

  it.each<[Partial<ChatRequest>, string, string]>([
    [{ stopSequences: ['every', 'zebra'] }, 'Backups are taken ', 'stop'],
    [{ maxOutputTokens: 2 }, 'Backups ', 'length'],
    [{ maxOutputTokens: 2, stopSequences: ['ups'] }, 'Back', 'stop'],
    [{ maxOutputTokens: 500, stopSequences: ['zebra'] }, 'Backups are taken every night. [2]', 'stop'],
  ])('%j ends its answer there', async (given, text, finishReason) => {
    expect(await said(given)).toEqual([text, finishReason]);
  });
});
