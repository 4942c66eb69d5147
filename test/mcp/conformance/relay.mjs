/* The client of the conformance package: passes each scenario on to the test, and waits for its end. */
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const [host, url] = process.argv.slice(2);
const body = JSON.stringify({ scenario, context: JSON.parse(context), url });
const answer = await fetch(host, { method: 'POST', body });
if (!answer.ok) {
  console.error(await answer.text());
  process.exitCode = 1;
}
