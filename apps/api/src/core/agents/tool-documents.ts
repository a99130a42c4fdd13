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
  if (!tools.some(hasDocument)) return json;
  const documents = tools.flatMap((tool) => (hasDocument(tool) ? [tool.http.document] : []));
  let index = 0;
  return new JsonText(json.text.replaceAll(`"${MARK}"`, () => documents[index++] ?? 'null'));
};

/** The same without the documents. The text is not searched where there is none: a list asks this of each of its rows. */
export const withoutDocuments = (json: JsonText, tools: readonly ToolWithDocument[] = []): JsonText =>
  tools.some(hasDocument) ? new JsonText(json.text.replaceAll(`,"document":"${MARK}"`, '')) : json;

const hasDocument = (tool: ToolWithDocument): tool is { readonly http: { readonly document: string } } =>
  tool.http !== undefined && !isErased(tool.http.document);
