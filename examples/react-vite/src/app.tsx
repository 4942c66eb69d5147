import { useConversation, useCredits, useGeneration, useUpload } from '@questline/react';

export function App() {
  const { balance, error, refresh } = useCredits();
  const signIn = async (form: FormData) => {
    await fetch('/login', { method: 'POST', body: new URLSearchParams({ name: String(form.get('name')) }) });
    await refresh();
  };
  if (balance === undefined)
    return (
      <form action={signIn} hidden={error?.status !== 401}>
        <input name="name" placeholder="Your name" required />
        <button type="submit">Sign in</button>
      </form>
    );
  return (
    <main>
      <p>{balance.toFixed(2)} credits</p>
      <Chat />
      <Media kind="image" model="demo-image" />
      <Media kind="video" model="demo-video" />
    </main>
  );
}

function Chat() {
  const { messages, status, error, send, cancel } = useConversation({ storageKey: 'chat' });
  const { upload, progress, file, error: fileError, cancel: removeFile } = useUpload();
  const sendForm = async (form: FormData) => {
    const options = { enableTools: true, fileIds: file && [file.id] };
    if (await send(String(form.get('text')), options)) removeFile();
  };
  return (
    <form action={sendForm} id="chat">
      {messages.map(({ id, role, text, answer }) => (
        <div key={id} className={role}>
          {answer?.tools.map((tool) => (
            <code key={tool.id}>{`${tool.name}(${tool.arguments})`}</code>
          ))}
          <p>{text}</p>
        </div>
      ))}
      <input type="file" onChange={({ target }) => target.files?.[0] && void upload(target.files[0])} />
      {progress && <progress value={progress.loaded} max={progress.total} />}
      {file?.file_name}
      <input name="text" placeholder="Message" required />
      <button type="submit">Send</button>
      <input type="button" value="Stop" onClick={cancel} hidden={status !== 'running'} />
      <p role="alert">{error?.message ?? fileError?.message}</p>
    </form>
  );
}

function Media({ kind, model }: { kind: 'image' | 'video'; model: string }) {
  const { start, status, progress, urls, error } = useGeneration(kind, { storageKey: kind });
  const generate = (form: FormData) => void start({ model, prompt: String(form.get('prompt')) });
  const Result = kind === 'image' ? 'img' : 'video';
  return (
    <form action={generate} id={kind}>
      <input name="prompt" placeholder={`Describe the ${kind}`} required />
      <button type="submit">Generate</button>
      {status === 'running' && <progress value={progress} />}
      {urls.map((url) => (
        <Result key={url} src={url} />
      ))}
      <p role="alert">{error?.message}</p>
    </form>
  );
}
