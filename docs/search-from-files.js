// Search in pages that are opened as files: there browsers refuse workers, so that the theme's search
// would stay silent. It runs in a hidden frame instead. Served pages are left alone.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = inside.document.createElement("script")
      script.src = url
      script.onload = () => {
        this.inside = inside
        this.waiting.forEach(data => this.postMessage(data))
      }
      inside.document.body.append(script)
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new MessageEvent("message", { data }))
      else this.waiting.push(data)
    }
  }
}
