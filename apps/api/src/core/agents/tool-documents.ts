import { randomUUID } from 'node:crypto';
import { JsonText } from '@app/http';
import { isErased } from '@app/kernel';

/** Stands for an OpenAPI document until its text takes the place. Nobody can write it: each process has another. */
const MARK = randomUUID();

interface ToolWithDocument {
  readonly http?: { readonly document: string } | undefined;
}

/** Tools as they are shown, with marks for their documents: those are long, and JSON already. */
export const markedTools = <Tool extends ToolWithDocument>(tools: readonly Tool[]) =>
  tools.map(({ http, ...tool }) =>
    http === undefined
      ? tool
      : { ...tool, http: { ...http, document: isErased(http.document) ? http.document : MARK } },
  );

/** The JSON of an object that was made with the marks of these tools, with the documents in their places. */
export const withDocuments = (json: JsonText, tools: readonly ToolWithDocument[] = []): JsonText => {
  const documents = tools.flatMap(({ http }) => (http === undefined || isErased(http.document) ? [] : [http.document]));
  if (documents.length === 0) return json;
  let index = 0;
  return new JsonText(json.text.replaceAll(`"${MARK}"`, () => documents[index++] ?? 'null'));
};

/** The same without the documents. */
export const withoutDocuments = (json: JsonText): JsonText =>
  json.text.includes(MARK) ? new JsonText(json.text.replaceAll(`,"document":"${MARK}"`, '')) : json;
