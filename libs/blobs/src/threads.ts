/** What threads import that read bodies beside an embedded store. It loads no framework and no server's client. */
export { openFileBlobs } from './files/file-blobs';
