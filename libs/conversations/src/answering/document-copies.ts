import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { decryptField, encryptField, fieldPlace, isErased, type Keyring, streamOf } from '@app/kernel';
import { VAULT } from '@app/vault';
import { Inject, Injectable } from '@nestjs/common';
import { keptPassage, type PausedAnswer } from '../conversation/tool-approvals';
import { passage } from '../conversation/tool-approval.events';
import type { CopiedText } from '../conversation/provenance.schema';
import type { RetrievedPassage } from './retriever';

const [deflated, inflated] = [promisify(deflate), promisify(inflate)];

/**
 * Copies of document texts in conversations: each is encrypted under the data key of its document, and with the rest
 * under the key of its message. So it is erased with either of them.
 */
@Injectable()
export class DocumentCopies {
  constructor(@Inject(VAULT) private readonly keyring: Pick<Keyring, 'keys'>) {}

  /** Texts under the keys of their documents, in their order; undefined for one whose document is deleted. Throws `Unavailable`. */
  async sealed(
    texts: readonly { readonly documentId: string; readonly text: string }[],
  ): Promise<readonly (CopiedText | undefined)[]> {
    const keys = await this.keysOf(texts);
    return Promise.all(
      texts.map(async ({ documentId, text }) => {
        const key = keys.get(streamFor(documentId));
        const packed = (await deflated(text)).toString('base64');
        return key && { documentId, copy: encryptField(key, placeFor(documentId), packed).$encrypted };
      }),
    );
  }

  /** The text of a copy; undefined where its document is deleted. Throws `Unavailable`. */
  async text(copied: CopiedText): Promise<string | undefined> {
    return (await this.texts([copied]))[0];
  }

  /** What a paused answer may cite, without what was deleted since. Throws `Unavailable`. */
  async citable({ passages = [], sources = [] }: PausedAnswer): Promise<readonly RetrievedPassage[]> {
    // Those of before this was kept under the keys of documents.
    const earlier = isErased(passages) ? [] : passages;
    const texts = isErased(sources) ? [] : await this.texts(sources);
    return [...earlier, ...texts.flatMap((text) => (text === undefined ? [] : [passageIn(text)]))];
  }

  /** The citable sources of a waiting answer, without deleted ones. Throws `Unavailable`. */
  async kept(passages: readonly RetrievedPassage[]): Promise<readonly CopiedText[]> {
    const sealed = await this.sealed(
      passages.map((each) => ({ documentId: each.documentId, text: JSON.stringify(keptPassage(each)) })),
    );
    return sealed.flatMap((each) => each ?? []);
  }

  private async texts(copies: readonly CopiedText[]): Promise<readonly (string | undefined)[]> {
    const keys = await this.keysOf(copies);
    return Promise.all(
      copies.map(async ({ documentId, copy }) => {
        const key = keys.get(streamFor(documentId));
        if (key === undefined) return undefined;
        const packed = decryptField(key, placeFor(documentId), { $encrypted: copy }) as string;
        return (await inflated(Buffer.from(packed, 'base64'))).toString();
      }),
    );
  }

  private keysOf(of: readonly Pick<RetrievedPassage, 'documentId'>[]): ReturnType<Keyring['keys']> {
    return this.keyring.keys(documentKeysOf(of));
  }
}

/** Names of the data keys of the documents that passages or copies are of. */
export const documentKeysOf = (of: readonly Pick<RetrievedPassage, 'documentId'>[]): readonly string[] => [
  ...new Set(of.map(({ documentId }) => streamFor(documentId))),
];

/** The category of documents, which belong to Knowledge; names of streams are storage formats. */
const streamFor = (documentId: string): string => streamOf('document', documentId);

const placeFor = (documentId: string): string => fieldPlace(streamFor(documentId), 'copy');

const passageIn = (text: string): RetrievedPassage => passage.parse(JSON.parse(text));
