// node's ws as a peer of `make bench`: a member's message is sent to all clients
// connected to the same path.
'use strict'
const { WebSocketServer } = require('ws')

const rooms = new Map()
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })

server.on('connection', (socket, request) => {
  const path = request.url
  if (path === '/echo') {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
    return
  }
  let room = rooms.get(path)
  if (!room) rooms.set(path, room = new Set())
  room.add(socket)
  socket.on('message', (data, isBinary) => {
    for (const member of room) member.send(data, { binary: isBinary })
  })
  socket.on('close', () => room.delete(socket))
})
server.on('listening', () => {
  process.stderr.write(`listening on ws://127.0.0.1:${server.address().port}\n`)
})
