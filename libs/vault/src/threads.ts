/** What threads import that read under the keys of the embedded vault. It loads no framework and no server's client. */
export { openSqliteVault } from './sqlite/sqlite-vault';
