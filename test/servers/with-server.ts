/** Runs specs against the server that a variable of the environment names; where it is unset, says so in their place. */
export const withServer = (variable: string, title: string, specs: (url: string) => void): void => {
  const url = process.env[variable] ?? '';
  describe(title, () => (url === '' ? it.todo(`skipped: ${variable} is not set`) : specs(url)));
};
