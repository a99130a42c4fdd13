import { isCompatPath } from './error-envelope';

/** What the parameters in paths say that is more than their name. */
const descriptions: Readonly<Record<string, string>> = {
  agentId: 'The id of the Agent.',
  id: 'The id of the object.',
  keyId: 'The id of the API key.',
  kind: 'The kind of object: the singular name of its resource.',
  limitId: 'The id of the spend limit.',
  modelId: 'The id of the model. Slashes can be percent-encoded or not.',
  name: 'The name of the view.',
  path: 'The path of the file. Slashes can be percent-encoded or not.',
  revision: 'The revision of the Agent, an integer.',
  spaceId: 'The id of the Space.',
};

/**
 * Describes a path parameter: `tagId` is the id of the tag. Throws for a name that is not an id and has no
 * description here.
 */
export const parameterDescription = (name: string): string => {
  const description = descriptions[name] ?? descriptionOfId(name);
  if (description === undefined) throw new Error(`the path parameter ${name} has no description`);
  return description;
};

const descriptionOfId = (name: string): string | undefined => {
  const [, kind] = /^([a-z]+(?:[A-Z][a-z]+)*)Id$/.exec(name) ?? [];
  return kind === undefined
    ? undefined
    : `The id of the ${kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}.`;
};

/** The name of the rest of a path, which stands as `*` in its route: the gateway's is the id of a model, which may have slashes as paths of files do. */
export const wildcardOf = (path: string): string => (isCompatPath(path) ? 'modelId' : 'path');
