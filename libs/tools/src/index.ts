export { type HttpCall, HttpCaller, type HttpCallerOptions } from './http/http-caller';
export { SHORTEST_SECRET } from './http/secret';
export { isPublicAddress } from './network/public-address';
export { DocumentFault } from './openapi/document-fault';
export { MOST_OPERATIONS, operationsOf, operationsOrFault, type ToolOperation } from './openapi/operations';
export { OWN_TOOLS, toolNameOf } from './openapi/tool-names';
