/** What schemas of events import of the tools. It loads no client. */
export { SHORTEST_SECRET } from './http/secret';
export { DocumentFault } from './openapi/document-fault';
export { MOST_OPERATIONS, operationsOrFault, type ToolOperation } from './openapi/operations';
export { OWN_TOOLS, toolNameOf } from './openapi/tool-names';
