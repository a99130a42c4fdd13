import { systemClock } from '@app/kernel';
import { agentId, messagesOf, platform, send } from './conversations-world';
import { ADMIN_KEY, type Call, type TestPlatform } from './harness';

const HOUR = 60 * 60_000;

/** An image of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export interface File {
  readonly id: string;
  readonly filename: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly expiresAt: string;
}

interface Upload {
  readonly mediaType?: string;
  readonly key?: string;
  readonly agent?: string;
  readonly to?: TestPlatform;
}

/** Uploads a file for questions to an Agent. */
export const upload = (
  body: Buffer | string,
  filename: string,
  { mediaType = 'application/octet-stream', key, agent = agentId, to = platform }: Upload = {},
) => {
  const boundary = 'b0undary';
  const payload = Buffer.concat([
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\ncontent-type: ${mediaType}\r\n\r\n`,
    ),
    Buffer.from(body),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return to.call<File>(`/api/v1/core/llm/${agent}/files`, {
    method: 'POST',
    payload,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    ...(key === undefined ? {} : { key }),
  });
};

export const uploaded = async (body: Buffer | string, filename: string, given?: Upload): Promise<File> => {
  const answer = await upload(body, filename, given);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
};

/** A question with a file. */
export const withFile = (file: object, text = 'What does it say?') => ({
  parts: [
    { type: 'text', text },
    { type: 'file', ...file },
  ],
});

/** From now on it is a day later, so that what was uploaded before has expired, and is not swept yet. */
export const aDayLater = (hours = 24.5) =>
  jest.spyOn(systemClock, 'now').mockImplementation(() => new Date(Date.now() + hours * HOUR));

export const at = (fileId: string, agent = agentId) => `/api/v1/core/llm/${agent}/files/${fileId}`;
export const read = (fileId: string, call: Call = {}) => platform.call(`${at(fileId)}/content`, call);
export const shown = (fileId: string, call: Call = {}) => platform.call(at(fileId), call);
export const statuses = async (fileId: string, call: Call = {}) => [
  (await shown(fileId, call)).status,
  (await read(fileId, call)).status,
];
/** Fetched, since a body of other bytes than text does not survive as text. */
export const bytes = async (fileId: string, headers: Record<string, string> = { 'x-api-key': ADMIN_KEY }) => {
  const response = await fetch(`${platform.url}${at(fileId)}/content`, { headers });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
};
export const questionWith = async ({ id }: File, call: Partial<Call> = {}) => {
  const { status, body, text } = await send({ message: withFile({ fileId: id }) }, call);
  if (status !== 200) throw new Error(text);
  const question = (await messagesOf(body.conversationId)).find(({ role }) => role === 'user');
  return { conversationId: body.conversationId, messageId: question?.id as string };
};
