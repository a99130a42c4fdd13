import { eventCatalogue } from '@app/hosting';
import { openApiDocument } from '@app/http';
import { productVersion } from '@app/kernel';
import { configurationTable } from './configuration-table';
import { errorPage } from './error-page';
import { eventCataloguePage } from './event-catalogue';
import { nestCli } from './nest-cli';
import { INTEGRATION_EVENTS, integrationEventTables, integrationSchemaFiles } from './integration-events';
import { previewApplication } from './preview';

/** Files of the repository that are written from the code: by path, the text that belongs there, given the one that is there. */
export const generatedFiles: Readonly<Record<string, (present: string) => string | Promise<string>>> = {
  'docs/openapi.json': async () =>
    `${JSON.stringify(openApiDocument(await previewApplication(), productVersion), null, 2)}\n`,
  'docs/event-catalogue.md': () => eventCataloguePage(eventCatalogue),
  'docs/errors.md': () => errorPage(),
  ...integrationSchemaFiles,
  [`${INTEGRATION_EVENTS}/README.md`]: (present) => withSection(present, 'events', integrationEventTables()),
  'nest-cli.json': (present) => nestCli(present),
  'docs/configuration.md': (present) => withSection(present, 'configuration', configurationTable()),
};

/** Replaces what stands between `<!-- name -->` and `<!-- /name -->`; a text without these marks stays as it is. */
const withSection = (text: string, name: string, section: string): string => {
  const start = `<!-- ${name} -->`;
  const [before, rest] = split(text, start);
  const [, after] = rest === undefined ? [] : split(rest, `<!-- /${name} -->`);
  return after === undefined ? text : `${before}${start}\n${section}\n<!-- /${name} -->${after}`;
};

const split = (text: string, mark: string): [string, string | undefined] => {
  const index = text.indexOf(mark);
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + mark.length)];
};
